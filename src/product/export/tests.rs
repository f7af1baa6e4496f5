//! What comes out of sessions, above all of hostile ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde_json::Map;

use super::*;
use crate::base::clock::Clock;
use crate::product::session::store::{Selector, Store};

const ID: &str = "20261130-084550-00ab";
/// What tries to get out of the place it was put in.
const HOSTILE: [&str; 12] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "</pre></details></article><h1>mine</h1>",
    "<!-- ",
    "[link](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
    "[x]: javascript:alert(1) \"a\"\n\n[x] ![p](https://example.com/p.png \"t\\\" onload=alert(1)\") ![q](data:image/svg+xml,x)",
    "```html\n<script>alert(1)</script>",
    "<style>body{display:none}</style><a href=\"java\nscript:alert(1)\">x</a>",
    "\u{1b}[2J\u{202e}\u{0}`````",
    "| a | b |\n|:-:|--:|\n| <b onclick=x> | [c](vbscript:x) |",
];

/// A session file of these lines behind a header.
fn file(folder: &Path, lines: &[Value]) -> PathBuf {
    let path = folder.join(format!("{ID}.jsonl"));
    let mut text = json!({"type": "session", "version": 1, "id": ID, "created_at": 1_796_028_350_123_i64,
        "cwd": "/srv/project", "provider": "p", "model": "m", "parent": null})
    .to_string();
    for line in lines {
        text.push('\n');
        text.push_str(&line.to_string());
    }
    text.push('\n');
    fs::write(&path, text).unwrap();
    path
}

fn message(id: u64, parent: Option<u64>, role: &str, content: &Value) -> Value {
    json!({"type": "message", "id": id, "parent_id": parent, "timestamp": 1_796_028_350_123_i64 + id as i64,
        "role": role, "content": content})
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn rendered(path: &Path, format: Format, extent: Extent, secrets: &[&str]) -> String {
    let mask = Mask::new(secrets.iter().copied());
    let resolve = |hash: &str| (hash == "abc").then(|| b"from elsewhere".to_vec());
    let filter = Filter { mask: &mask, resolve: &resolve };
    let bytes = render(&Transcript::read(path, extent).unwrap(), format, &filter).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Two branches, a summary, a label, a grant, a result that is kept elsewhere, and a secret.
fn lively(folder: &Path) -> PathBuf {
    file(
        folder,
        &[
            message(
                1,
                None,
                "user",
                &json!([{"type": "text", "text": "facts"}, {"type": "text", "text": "first *question*"}]),
            ),
            message(
                2,
                Some(1),
                "assistant",
                &json!([{"type": "reasoning", "text": "hm\nso", "signature": "S"}, {"type": "text", "text": "Reading **it**."},
                    {"type": "tool_use", "id": "c1", "name": "write_file", "input": {"path": "a.rs", "content": "x\n```\ny", "key-12345678": 1}}]),
            ),
            message(
                3,
                Some(2),
                "tool",
                &json!([{"type": "tool_result", "tool_use_id": "c1", "is_error": true,
                    "content": [{"type": "text", "blob": "abc"}, {"type": "image", "media_type": "image/png", "data": "AAAA"}, {"type": "image", "media_type": "image/png", "blob": "gone"}]}]),
            ),
            message(4, Some(3), "assistant", &text("another branch")),
            json!({"type": "leaf", "target_id": 3}),
            json!({"type": "grant", "mode": "all"}),
            json!({"type": "label", "target_id": 1, "label": "here <b>"}),
            json!({"type": "label", "target_id": 4, "label": "there"}),
            json!({"type": "summary", "id": 5, "parent_id": 3, "timestamp": 1, "text": "what was", "first_kept_id": null}),
            message(6, Some(5), "user", &text("the key is key-12345678")),
            json!({"type": "checkpoint", "id": 7, "entry_id": 6, "ref": "r"}),
            json!({"type": "name", "name": "A name"}),
        ],
    )
}

#[test]
fn a_transcript_follows_where_the_conversation_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = lively(folder.path());
    let page = rendered(&path, Format::Markdown, Extent::Path, &["key-12345678"]);
    let parts = [
        "# A name\n",
        "- directory: `/srv/project`",
        "## User · ",
        " · `here <b>`\n",
        "first *question*",
        "> **Reasoning**",
        "> hm\n> so",
        "Reading **it**.",
        "### Call of `write_file`",
        "\"path\": \"a.rs\"",
        "`content`:\n\n````\nx\n```\ny\n````",
        "### Result of `write_file` (failed)",
        "```\nfrom elsewhere\n```",
        "Picture: `image/png`",
        "could not be found",
        "## Summary of what came before",
        "> what was",
        "the key is [secret]",
    ];
    let mut rest = page.as_str();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { panic!("{part:?} is not in {rest}") };
        rest = after;
    }
    assert!(!page.contains("another branch") && !page.contains("12345678"), "{page}");
    let page = rendered(&path, Format::Html, Extent::Path, &["key-12345678"]);
    for part in [
        "<title>A name</title>",
        "<strong>it</strong>",
        "<mark>here &lt;b&gt;</mark>",
        "src=\"data:image/png;base64,AAAA\"",
        "[secret]",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("another branch") && !page.contains("12345678"), "{page}");
    assert!(is_harmless(&page).is_ok());
}

#[test]
fn records_come_out_with_all_that_belongs_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = lively(folder.path());
    let lines = |extent| -> Vec<Value> {
        let text = rendered(&path, Format::JsonLines, extent, &["key-12345678"]);
        assert!(!text.contains("12345678"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let kinds = |lines: &[Value]| -> Vec<String> {
        let kind = |line: &Value| {
            let id = line["id"].as_u64().map(|id| id.to_string()).unwrap_or_default();
            format!("{}{id}", line["type"].as_str().unwrap())
        };
        lines.iter().map(kind).collect()
    };
    let one = lines(Extent::Path);
    let path_kinds = ["session", "message1", "message2", "message3", "label", "summary5", "message6", "name"];
    assert_eq!(kinds(&one), path_kinds);
    assert_eq!(one[3]["content"][0]["content"][0], json!({"type": "text", "text": "from elsewhere"}));
    assert_eq!(one[3]["content"][0]["content"][1]["data"], "AAAA");
    assert_eq!(one[2]["content"][2]["input"]["[secret]"], 1);
    let all = lines(Extent::AllBranches);
    assert!(kinds(&all).iter().any(|kind| kind == "message4") && kinds(&all).iter().any(|kind| kind == "leaf"));
    assert!(!kinds(&all).iter().any(|kind| kind == "grant" || kind.starts_with("checkpoint")));

    let object: Value = serde_json::from_str(&rendered(&path, Format::Json, Extent::Path, &[])).unwrap();
    assert_eq!((&object["id"], &object["name"], &object["leaf_id"]), (&json!(ID), &json!("A name"), &json!(6)));
    assert_eq!(object["messages"].as_array().map(Vec::len), Some(5));
    let object: Value = serde_json::from_str(&rendered(&path, Format::Json, Extent::AllBranches, &[])).unwrap();
    assert_eq!(object["messages"].as_array().map(Vec::len), Some(6));
    assert!(object["asides"].as_array().is_some_and(|asides| !asides.is_empty()));

    let mask = Mask::default();
    let filter = Filter { mask: &mask, resolve: &|_| None };
    let transcript = Transcript::read(&path, Extent::AllBranches).unwrap();
    assert!(render(&transcript, Format::Html, &filter).unwrap_err().hints[0].contains("jsonl"));
}

#[test]
fn an_exported_file_is_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = lively(folder.path());
    let out = folder.path().join("out.jsonl");
    fs::write(&out, rendered(&path, Format::JsonLines, Extent::Path, &[])).unwrap();
    let store = Store::new(folder.path(), Clock::Fixed(0));
    let whole = store.open(&Selector::Path(path), Path::new("/")).unwrap().unwrap();
    let again = store.open(&Selector::Path(out), Path::new("/")).unwrap().unwrap();
    // But for what was kept elsewhere, it is the same conversation.
    assert_eq!(again.messages.last(), whole.messages.last());
    assert_eq!((again.messages.len(), again.grant), (whole.messages.len(), None));
}

#[test]
fn a_conversation_without_a_file_comes_out_too() {
    let origin = Origin { provider: "p".into(), model: "m".into() };
    let messages = [Message::user("hello"), Message::user("<b>")];
    let transcript = Transcript::of(ID, Path::new("/x"), &origin, 1_796_028_350_123, &messages);
    let filter = Filter { mask: &Mask::default(), resolve: &|_| None };
    let page = String::from_utf8(render(&transcript, Format::Html, &filter).unwrap()).unwrap();
    assert!(page.contains("<title>hello</title>") && page.contains("&lt;b&gt;"), "{page}");
    let lines = String::from_utf8(render(&transcript, Format::JsonLines, &filter).unwrap()).unwrap();
    assert!(lines.lines().nth(2).unwrap().contains(r#""id":2,"parent_id":1"#), "{lines}");
}

#[test]
fn a_file_is_private_whole_and_never_replaced_by_chance() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = Transcript::read(&lively(folder.path()), Extent::Path).unwrap();
    let filter = Filter { mask: &Mask::default(), resolve: &|_| None };
    let to = |path: &Path, existing| to_file(&transcript, Format::Markdown, &filter, path, existing);
    let path = to(folder.path(), Existing::Kept).unwrap();
    assert_eq!(path, folder.path().join(format!("{ID}.md")));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&path, "mine").unwrap();
    assert!(to(&path, Existing::Kept).unwrap_err().hints[0].contains("--force"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    to(&path, Existing::Replaced).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("# A name"));
    assert!(to(&folder.path().join("no/such"), Existing::Kept).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half-written is left");
}

/// A session in which every field is `text`.
fn all_of(text: &str) -> Vec<Value> {
    let field = || json!(text);
    let mut input = Map::new();
    input.insert(text.to_owned(), json!({text: [field()]}));
    vec![
        message(
            1,
            None,
            "user",
            &json!([{"type": "text", "text": text}, {"type": "image", "media_type": text, "data": text}]),
        ),
        json!({"type": "message", "id": 2, "parent_id": 1, "timestamp": 5, "role": "assistant", "model": text, "provider": text, "stop_reason": text,
            "content": [{"type": "reasoning", "text": text, "signature": text}, {"type": "text", "text": text},
                {"type": "tool_use", "id": "c1", "name": text, "input": input}, {"type": "tool_use", "id": text, "name": "t", "input": {}, "raw": text}]}),
        message(
            3,
            Some(2),
            "tool",
            &json!([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": text}]},
            {"type": "tool_result", "tool_use_id": text, "content": [{"type": "text", "text": text}, {"type": "image", "media_type": "image/svg+xml", "data": "AAAA"}]}]),
        ),
        json!({"type": "label", "target_id": 1, "label": text}),
        json!({"type": "summary", "id": 4, "parent_id": 3, "timestamp": 1, "text": text, "first_kept_id": 1}),
        message(5, Some(4), "assistant", &json!([{"type": "text", "text": format!("end of {text}")}])),
        json!({"type": "name", "name": text}),
    ]
}

/// The tags of a page and their attributes, read as a browser would; an error where there is something that none of
/// ours is.
fn is_harmless(page: &str) -> Result<(), String> {
    const TAGS: &str = "a article blockquote body br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 head header hr html \
        img li main mark meta ol p pre span strong style summary table tbody td th thead time title tr ul";
    const ATTRIBUTES: &str = "alt charset class content href http-equiv id lang name open src start title";
    let mut rest = page.strip_prefix("<!doctype html>").ok_or("no doctype")?;
    let mut open: Vec<String> = Vec::new();
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let name: String = tag.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '/').collect();
        let mut inside = &tag[name.len()..];
        loop {
            inside = inside.trim_start();
            if let Some(after) = inside.strip_prefix("/>").or_else(|| inside.strip_prefix('>')) {
                rest = after;
                break;
            }
            let attribute: String =
                inside.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
            if !ATTRIBUTES.split_whitespace().any(|known| known == attribute) {
                return Err(format!("attribute {attribute:?} in <{name} {}", &inside[..inside.len().min(80)]));
            }
            inside = &inside[attribute.len()..];
            let Some(value) = inside.strip_prefix("=\"") else { continue };
            let (value, after) = value.split_once('"').ok_or("an open attribute")?;
            let fits = match attribute.as_str() {
                "href" => {
                    ["http://", "https://", "mailto:"].iter().any(|scheme| value.to_lowercase().starts_with(scheme))
                }
                "src" => value.starts_with("data:image/") && !value.contains("svg"),
                _ => !value.contains('<'),
            };
            if !fits {
                return Err(format!("{attribute} is {value:?}"));
            }
            inside = after;
        }
        let ending = name.strip_prefix('/');
        if !TAGS.split_whitespace().any(|known| known == ending.unwrap_or(&name)) {
            return Err(format!("tag {name:?} before {}", &rest[..rest.len().min(80)]));
        }
        match ending {
            Some(ending) if open.pop().as_deref() != Some(ending) => return Err(format!("</{ending}> closes nothing")),
            Some(_) => {}
            None if matches!(name.as_str(), "br" | "hr" | "img" | "meta") => {}
            None => open.push(name.clone()),
        }
        if name == "style" {
            rest = &rest[rest.find("</style>").ok_or("an open style")?..];
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stay open")) }
}

#[test]
fn nothing_hostile_becomes_markup() {
    let folder = tempfile::tempdir().unwrap();
    for hostile in HOSTILE {
        let path = file(folder.path(), &all_of(hostile));
        let page = rendered(&path, Format::Html, Extent::Path, &[]);
        is_harmless(&page).unwrap_or_else(|problem| panic!("{hostile:?}: {problem}"));
        assert!(page.contains("Content-Security-Policy") && !page.contains("<script"));
        let controls = |letter: char| letter.is_control() && letter != '\n' && letter != '\t' || letter == '\u{202e}';
        assert!(!page.contains(controls));
        for format in [Format::Markdown, Format::Json, Format::JsonLines] {
            assert!(!rendered(&path, format, Extent::Path, &[]).contains(controls), "{format:?}");
        }
    }
}

#[test]
fn the_page_says_no_to_everything_but_its_own_style() {
    let folder = tempfile::tempdir().unwrap();
    let page = rendered(&file(folder.path(), &[]), Format::Html, Extent::Path, &[]);
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        ring::digest::digest(&ring::digest::SHA256, style.as_bytes()),
    );
    assert!(page.contains(&format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
    )));
    assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('<'));
}

/// The headings of the second level and the blocks of code in a page of Markdown.
fn outline(page: &str) -> (Vec<String>, Vec<String>) {
    let (mut headings, mut blocks) = (Vec::new(), Vec::new());
    let mut inside: Option<String> = None;
    for event in Parser::new_ext(page, Options::empty()) {
        match event {
            Event::Start(Tag::Heading { level: pulldown_cmark::HeadingLevel::H2, .. })
            | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                inside = Some(String::new());
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(inside) = &mut inside {
                    inside.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(inside.take()),
            Event::End(TagEnd::CodeBlock) => blocks.extend(inside.take()),
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    (headings, blocks)
}

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,12}",
        "`{1,6}|~{3,5}|\n|\n\n|    |- |> |#+ |<!--|-->|<pre>|<script>|</|\\|",
        proptest::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_text_gets_out_of_its_place(text in nasty()) {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), &all_of(&text));
        let problem = is_harmless(&rendered(&path, Format::Html, Extent::Path, &[])).err();
        prop_assert_eq!(problem, None);
        let again = rendered(&path, Format::JsonLines, Extent::Path, &[]);
        let back: Value = serde_json::from_str(again.lines().nth(1).unwrap()).unwrap();
        prop_assert_eq!(back["content"][0]["text"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn no_fence_is_closed_from_inside(text in nasty(), result in nasty()) {
        let folder = tempfile::tempdir().unwrap();
        let call = json!([{"type": "text", "text": text}, {"type": "tool_use", "id": "c", "name": "t", "input": {}}]);
        let path = file(folder.path(), &[
            message(1, None, "user", &json!([{"type": "text", "text": text}])),
            message(2, Some(1), "assistant", &call),
            message(3, Some(2), "tool", &json!([{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": result}]}])),
            message(4, Some(3), "assistant", &json!([{"type": "text", "text": "the end"}])),
        ]);
        let page = rendered(&path, Format::Markdown, Extent::Path, &[]);
        let (headings, blocks) = outline(&page);
        let ours = |start: &str| headings.iter().filter(|heading| heading.starts_with(start)).count();
        prop_assert!(ours("User · 2026") >= 1 && ours("Assistant · 2026") >= 2, "{}", page);
        let shown = said::shown(&result);
        let body = if shown.is_empty() || shown.ends_with('\n') { shown } else { format!("{shown}\n") };
        prop_assert_eq!(blocks.last(), Some(&body), "{}", page);
    }
}

#[test]
fn the_block_about_the_surroundings_is_nobodys_words() {
    let folder = tempfile::tempdir().unwrap();
    let block = "<environment>\ndirectory: /srv/hidden\n</environment>";
    let said = |texts: &[&str]| {
        Value::from(texts.iter().map(|text| json!({"type": "text", "text": text})).collect::<Vec<_>>())
    };
    let lines = [
        message(1, None, "user", &said(&[block, "explain it"])),
        message(2, Some(1), "user", &said(&["<environment>\nof my own\n</environment>"])),
    ];
    let path = file(folder.path(), &lines);
    for format in [Format::Markdown, Format::Html] {
        let page = rendered(&path, format, Extent::Path, &[]);
        assert!(!page.contains("hidden") && page.contains("explain it") && page.contains("of my own"), "{page}");
    }
    assert!(rendered(&path, Format::Json, Extent::Path, &[]).contains("hidden"), "a record is whole");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), &[message(1, None, "user", &text("x"))]);
    let transcript = Transcript::read(&path, Extent::Path).unwrap();
    let (mask, resolve) = (Mask::new([]), |_: &str| None);
    let filter = Filter { mask: &mask, resolve: &resolve };
    for (below, what) in [("absent", "is not there"), (path.file_name().unwrap().to_str().unwrap(), "is not a folder")]
    {
        let below = folder.path().join(below);
        let to = below.join("x.md");
        let error = to_file(&transcript, Format::Markdown, &filter, &to, Existing::Kept).unwrap_err();
        let expected = format!("cannot write {}: the folder {} {what}", to.display(), below.display());
        assert_eq!(error.to_string(), expected);
    }
}
