//! What is found, and that nothing else is.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::base::clock::Clock;
use crate::product::session::name;

const CWD: &str = "/srv/project";
const MOMENT: i64 = 1_796_028_350_123;

struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> Store {
        Store::new(self.0.path(), Clock::Fixed(MOMENT))
    }

    /// Writes a session of these raw lines and returns its id.
    fn session(&self, number: u16, cwd: &str, lines: &[String]) -> String {
        let id = name::session_id(MOMENT, number);
        let folder = self.store().folder(Path::new(cwd));
        fs::create_dir_all(&folder).unwrap();
        let path: PathBuf = folder.join(&id).with_extension(name::EXTENSION);
        let header = json!({"type": "session", "version": 1, "id": id, "created_at": MOMENT, "cwd": cwd,
            "provider": "p", "model": "m", "parent": null});
        fs::write(path, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
        id
    }

    fn found(&self, words: &str) -> Vec<(Source, String)> {
        let found = self.store().search(None, &Needle::new(words, Case::Smart).unwrap(), 100, &elsewhere);
        assert!(found.unread.is_none() && found.total == found.hits.len());
        found.hits.into_iter().map(|hit| (hit.source, hit.excerpt.words)).collect()
    }
}

fn elsewhere(hash: &str) -> Option<Vec<u8>> {
    (hash == "abc").then(|| b"kept elsewhere".to_vec())
}

fn said(id: u64, role: &str, content: &Value) -> String {
    json!({"type": "message", "id": id, "parent_id": id - 1, "timestamp": MOMENT + id as i64, "role": role,
        "content": content})
    .to_string()
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn words_are_found_wherever_somebody_said_them() {
    let disk = Disk::new();
    disk.session(
        1,
        CWD,
        &[
            said(1, "user", &text("Where is the marzipan?")),
            said(
                2,
                "assistant",
                &json!([{"type": "reasoning", "text": "marzipan...", "signature": "nougat"},
                    {"type": "text", "text": "I look for MARZIPAN."},
                    {"type": "tool_use", "id": "nougat", "name": "nougat", "input": {"nougat": ["grep marzipan"]}}]),
            ),
            said(
                3,
                "tool",
                &json!([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a\nmarzipan: 3\nb"},
                    {"type": "image", "media_type": "image/png", "data": "nougat=="}, {"type": "text", "blob": "abc"}]}]),
            ),
            json!({"type": "summary", "id": 4, "parent_id": 3, "timestamp": MOMENT, "text": "Marzipan was found"}).to_string(),
            json!({"type": "label", "target_id": 3, "label": "marzipan!"}).to_string(),
            json!({"type": "name", "name": "The marzipan"}).to_string(),
            json!({"type": "model", "provider": "nougat", "model": "nougat"}).to_string(),
        ],
    );
    let sources: HashSet<_> = disk.found("marzipan").into_iter().map(|(source, _)| source).collect();
    assert_eq!(sources.len(), 8, "{sources:?}");
    assert_eq!(disk.found("MARZIPAN"), [(Source::Assistant, "MARZIPAN".into())]);
    assert_eq!(disk.found("kept elsewhere"), [(Source::Result, "kept elsewhere".into())]);
    for syntax in ["nougat", "tool_result", "timestamp", "\"text\"", "a\\n", "srv"] {
        assert_eq!(disk.found(syntax), [], "{syntax}");
    }
    assert_eq!(disk.found("a\nmarzipan").len(), 1);
}

#[test]
fn the_newest_comes_first_and_a_limit_holds() {
    let disk = Disk::new();
    let lines: Vec<String> = (1..=9).map(|id| said(id, "user", &text("again"))).collect();
    let (one, two) = (disk.session(1, CWD, &lines[..4]), disk.session(2, "/elsewhere", &lines[4..]));
    let search = |cwd: Option<&Path>, limit| {
        let found = disk.store().search(cwd, &Needle::new("again", Case::Smart).unwrap(), limit, &elsewhere);
        let hits: Vec<_> = found.hits.iter().map(|hit| (hit.session.id.clone(), hit.entry_id.unwrap())).collect();
        (hits, found.total)
    };
    let (hits, total) = search(None, 6);
    let expected: Vec<_> = [9, 8, 7, 6, 5].map(|id| (two.clone(), id)).into_iter().chain([(one.clone(), 4)]).collect();
    assert_eq!((hits, total), (expected, 9));
    let (hits, total) = search(Some(Path::new(CWD)), 1);
    assert_eq!((hits, total), (vec![(one, 4)], 4));
}

#[test]
fn damage_hides_nothing_beside_it() {
    let disk = Disk::new();
    let good = said(1, "user", &text("a needle"));
    disk.session(
        1,
        CWD,
        &[format!("{{\"type\":\"message\",\"id\":9,\"role\":\"us{good}"), "\0\0\0 needle".into(), "needle".into()],
    );
    let foreign = disk.store().folder(Path::new(CWD)).join("notes.jsonl");
    fs::write(foreign, "{\"some\":\"needle\"}\n").unwrap();
    assert_eq!(disk.found("needle"), [(Source::User, "needle".into())]);
    assert!(Needle::new(" ", Case::Smart).is_err());
}

#[test]
fn an_excerpt_is_one_line() {
    let text = format!("{}\nbefore  it\tword after\nmore", "x".repeat(99));
    let at = text.find("word").unwrap();
    let excerpt = Excerpt::new(&text, at..at + 4);
    assert_eq!(
        (excerpt.before.as_str(), excerpt.words.as_str(), excerpt.after.as_str()),
        ("before it ", "word", " after")
    );
    let long = format!("{}word{}", "é".repeat(80), "è".repeat(80));
    let excerpt = Excerpt::new(&long, 160..164);
    assert_eq!(excerpt.before, format!("…{}", "é".repeat(60)));
    assert_eq!(excerpt.after, format!("{}…", "è".repeat(60)));
}

/// JSON of a text with every letter that `wild` says spelt as `\uXXXX`.
fn spelt(text: &str, wild: u8) -> String {
    let mut json = String::from("\"");
    for (place, letter) in text.chars().enumerate() {
        if (wild >> (place % 8)) & 1 == 1 {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| json.push_str(&format!("\\u{unit:04X}")));
        } else {
            let plain = serde_json::to_string(&letter.to_string()).unwrap();
            json.push_str(plain.trim_start_matches('"').strip_suffix('"').unwrap_or(r#"\""#));
        }
    }
    json.push('"');
    json
}

fn letters(most: usize) -> impl Strategy<Value = String> {
    let letter = proptest::sample::select(vec![
        'a', 'A', 'b', 'é', 'É', '"', '\\', '/', '\n', '\t', '\u{1b}', '<', '.', 'u', '0', '天', '🦀',
    ]);
    proptest::collection::vec(letter, 0..most).prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn exactly_what_has_the_words_is_found(texts in proptest::collection::vec((letters(12), any::<u8>()), 1..8), words in letters(4)) {
        let Ok(needle) = Needle::new(&words, Case::Smart) else { return Ok(()) };
        let disk = Disk::new();
        let lines: Vec<String> = texts.iter().enumerate().map(|(at, (text, wild))| {
            let record = said(at as u64 + 1, "user", &self::text("@"));
            record.replacen("\"@\"", &spelt(text, *wild), 1)
        }).collect();
        disk.session(1, CWD, &lines);
        let found = disk.store().search(None, &needle, 100, &elsewhere);
        let mut ids: Vec<u64> = found.hits.iter().filter_map(|hit| hit.entry_id).collect();
        ids.sort_unstable();
        let has = |text: &str| match words.chars().any(char::is_uppercase) {
            true => text.contains(&words),
            false => text.to_lowercase().contains(&words),
        };
        let expected: Vec<u64> = (1..).zip(&texts).filter(|(_, (text, _))| has(text)).map(|(id, _)| id).collect();
        prop_assert_eq!(ids, expected);
    }
}
