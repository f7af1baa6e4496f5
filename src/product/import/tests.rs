//! What becomes of the sessions of other programs.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::base::clock::Clock;
use crate::kernel::history::legal;
use crate::model::message::{Assistant, AssistantPart, Message, Part};
use crate::product::session::store::{Opened, Selector};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(format!("{name}.jsonl"))
}

struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> Store {
        Store::new(self.0.path(), Clock::Fixed(1_796_028_350_123))
    }

    fn import(&self, path: &Path, again: Again) -> Outcome {
        Importer::new(&self.store(), Path::new("/here"), again).import(path, None).unwrap()
    }

    /// Takes in a fixture, and opens what came of it.
    fn taken(&self, name: &str) -> (Taken, PathBuf, Opened) {
        let Outcome::Made { id, path, taken } = self.import(&fixture(name), Again::No) else { panic!("{name}") };
        let opened = self.store().open(&Selector::Id(id), Path::new("/here")).unwrap().unwrap();
        assert!(opened.notices.is_empty() && opened.grant.is_none());
        // What is sent is already as it has to be.
        assert_eq!(legal(&opened.messages), opened.messages, "{name}");
        (*taken, path, opened)
    }
}

/// A conversation as a list of short words.
fn told(messages: &[std::sync::Arc<Message>]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message.as_ref() {
            Message::User(parts) => format!("user: {}", words(parts)),
            Message::Assistant(answer) => {
                format!("{}/{}: {}", answer.origin.provider, answer.origin.model, answered(answer))
            }
            Message::Tool(results) => {
                let result = |result: &crate::model::message::ToolResult| {
                    format!("{}{}={}", result.call_id, if result.is_error { "!" } else { "" }, words(&result.content))
                };
                format!("tool: {}", results.iter().map(result).collect::<Vec<_>>().join(" "))
            }
        })
        .collect()
}

fn words(parts: &[Part]) -> String {
    let word = |part: &Part| match part {
        Part::Text(text) => text.replace('\n', "|"),
        Part::Image(image) => format!("[{}]", image.label()),
    };
    parts.iter().map(word).collect::<Vec<_>>().join("+")
}

fn answered(answer: &Assistant) -> String {
    let word = |part: &AssistantPart| match part {
        AssistantPart::Text(text) => text.clone(),
        AssistantPart::Reasoning(thought) => {
            assert!(thought.signature.is_none() && thought.opaque.is_none());
            format!("({})", thought.text)
        }
        AssistantPart::ToolUse(call) => {
            let input = call.input.object().map_or("?".to_owned(), |input| json!(input).to_string());
            format!("{}:{}{input}", call.id, call.name)
        }
    };
    answer.content.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn left_out(taken: &Taken) -> Vec<(&str, u64)> {
    taken.left_out.iter().map(|(kind, number)| (kind.as_str(), *number)).collect()
}

fn records(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn pi_keeps_its_tree() {
    let disk = Disk::new();
    let (taken, path, opened) = disk.taken("pi");
    let told = told(&opened.messages);
    assert!(told[0].contains("They looked at a.txt."), "{told:?}");
    // From the change of a level on, which is no message: the command is the first one kept.
    assert_eq!(
        told[1..],
        ["user: I ran a command:||$ ls|a.txt|exit code: 0", "user: from an extension", "user: second question"]
    );
    assert_eq!(
        left_out(&taken),
        [("command that the model was not told of", 1), ("custom", 1), ("thinking_level_change", 1)]
    );
    let lines = records(&path);
    let header = &lines[0];
    assert_eq!((&header["cwd"], &header["parent"]), (&json!("/srv/project"), &Value::Null));
    assert_eq!((&header["imported"]["from"], &header["imported"]["id"]), (&json!("pi"), &json!("0198-pi")));
    assert_eq!((&header["created_at"], &header["model"]), (&json!(1_772_359_200_000_i64), &json!("claude-sonnet")));
    assert!(header["id"].as_str().unwrap().starts_with("20260301-100000-"));
    assert_eq!(lines[2]["usage"]["cost_usd"], 0.25);
    assert_eq!(lines[2]["usage"]["cache_write_tokens"], 2);
    assert_eq!((&lines[2]["stop_reason"], &lines[2]["timestamp"]), (&json!("tool_use"), &json!(1_772_359_202_000_i64)));
    let said: Vec<_> = lines.iter().map(|line| (line["id"].as_u64(), line["parent_id"].as_u64())).collect();
    // The fifth was left for the sixth; both follow the fourth.
    assert_eq!(said[5..7], [(Some(5), Some(4)), (Some(6), Some(4))]);
    assert!(lines.iter().any(|line| line["label"] == "start" && line["target_id"] == 1));
    assert!(lines.iter().any(|line| line["name"] == "About a.txt"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn pi_of_the_first_version_is_a_list() {
    let disk = Disk::new();
    let (_, path, opened) = disk.taken("pi-v1");
    assert_eq!(told(&opened.messages)[1..], ["user: kept", "user: after"]);
    assert_eq!(records(&path)[3]["first_kept_id"], 2);
}

#[test]
fn zaica_says_little_and_all_of_it_is_kept() {
    let disk = Disk::new();
    let (taken, path, opened) = disk.taken("zaica");
    assert_eq!(
        told(&opened.messages),
        [
            "user: list the files",
            "glm/glm-4.7-flash: call_1:list_files{\"path\":\".\"} call_2:read_file?",
            "tool: call_1=a.txt call_2=Error: bad arguments",
            "glm/glm-4.7-flash: There is a.txt.",
        ]
    );
    assert_eq!(left_out(&taken), [("system prompt", 1)]);
    let header = &records(&path)[0];
    assert_eq!((&header["cwd"], &header["created_at"]), (&json!("/here"), &json!(1_769_940_000_000_i64)));
}

#[test]
fn claude_has_whole_answers_and_all_results() {
    let disk = Disk::new();
    let (taken, path, opened) = disk.taken("claude");
    let now = told(&opened.messages);
    assert!(now.len() == 2 && now[0].contains("They read two files.") && now[1] == "user: go on", "{now:?}");
    let folder = disk.0.path().join("before.jsonl");
    let text: Vec<_> = fs::read_to_string(fixture("claude")).unwrap().lines().map(str::to_owned).collect();
    fs::write(&folder, text[..14].join("\n")).unwrap();
    let before = read(&folder, None).unwrap();
    let store = disk.store();
    let (id, _) = store.adopt(&before.whole, Path::new("/here")).unwrap();
    let opened = store.open(&Selector::Id(id), Path::new("/here")).unwrap().unwrap();
    assert_eq!(legal(&opened.messages), opened.messages);
    assert_eq!(
        told(&opened.messages),
        [
            "user: read both",
            "anthropic/claude-opus-4-5: (Both.) toolu_a:Read{\"file_path\":\"/srv/project/a\"} toolu_b:Read{\"file_path\":\"/srv/project/b\"}",
            "tool: toolu_a=text of a toolu_b!=no such file+[image/png]",
            "anthropic/claude-opus-4-5: One is there.",
            "user: and now?",
        ]
    );
    assert_eq!(
        left_out(&taken),
        [("file-history-snapshot", 1), ("message of a sub-agent", 1), ("message that no model wrote", 1)]
    );
    let lines = records(&path);
    assert_eq!(
        (&lines[2]["usage"]["output_tokens"], &lines[2]["usage"]["cache_write_tokens"]),
        (&json!(31), &json!(7))
    );
    assert!(lines.iter().any(|line| line["name"] == "Reading two files"));
}

#[test]
fn codex_has_answers_of_items_and_takes_turns_back() {
    let disk = Disk::new();
    let (taken, path, opened) = disk.taken("codex");
    let now = told(&opened.messages);
    assert!(now.len() == 2 && now[0].contains("They saw a.txt.") && now[1] == "user: last question", "{now:?}");
    let lines = records(&path);
    let texts: Vec<_> = lines[1..].iter().map(|line| line["content"][0]["text"].as_str().unwrap_or_default()).collect();
    assert_eq!(texts[..2], ["what is here?", "Looking."]);
    assert_eq!(lines[1]["content"][1]["media_type"], "image/png");
    let answer = &lines[2];
    assert_eq!(answer["content"].as_array().map(Vec::len), Some(4));
    assert_eq!(answer["content"][3]["input"]["input"], "*** Begin Patch");
    assert_eq!(
        (&answer["usage"]["input_tokens"], &answer["usage"]["cache_read_tokens"], &answer["usage"]["reasoning_tokens"]),
        (&json!(60), &json!(40), &json!(2))
    );
    assert_eq!((&answer["provider"], &answer["model"]), (&json!("openai"), &json!("gpt-5-codex")));
    assert_eq!(lines[4]["content"][0]["is_error"], true);
    // The summary follows what was said before the turn that was taken back.
    assert_eq!((&lines[8]["type"], &lines[8]["parent_id"]), (&json!("summary"), &json!(5)));
    assert_eq!(
        left_out(&taken),
        [
            ("context that the program put there", 1),
            ("event thread_name_updated", 1),
            ("instructions", 1),
            ("web_search_call", 1)
        ]
    );
}

#[test]
fn nothing_is_taken_in_twice_unless_it_is_wanted() {
    let disk = Disk::new();
    let Outcome::Made { id, .. } = disk.import(&fixture("pi"), Again::No) else { panic!() };
    let Outcome::There { id: there } = disk.import(&fixture("pi"), Again::No) else { panic!() };
    assert_eq!(there, id);
    let Outcome::Made { id: second, .. } = disk.import(&fixture("pi"), Again::Yes) else { panic!() };
    assert_ne!(second, id);
}

#[test]
fn a_folder_is_looked_through() {
    let disk = Disk::new();
    let folder = disk.0.path().join("from");
    fs::create_dir_all(folder.join("2026/05")).unwrap();
    fs::copy(fixture("codex"), folder.join("2026/05/rollout-x.jsonl")).unwrap();
    fs::copy(fixture("pi"), folder.join("b.jsonl")).unwrap();
    fs::write(folder.join("notes.txt"), "").unwrap();
    let names: Vec<_> = files(&folder).unwrap().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["rollout-x.jsonl", "b.jsonl"]);
    assert!(files(&disk.0.path().join("none")).unwrap().len() == 1, "that it is not there is told when it is read");
}

#[test]
fn what_is_foreign_is_told_and_what_is_damaged_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("x.jsonl");
        fs::write(&path, text).unwrap();
        path
    };
    let error = read(&file("{\"some\":1}\n"), None).unwrap_err();
    assert!(error.to_string().contains("no session of a known program"));
    let ours = "{\"type\":\"session\",\"version\":1,\"id\":\"x\",\"created_at\":1,\"cwd\":\"/\"}\n";
    assert!(read(&file(ours), None).unwrap_err().hints[0].contains("agent --session"));
    assert!(read(&folder.path().join("none"), None).is_err() && read(folder.path(), None).is_err());
    let torn = format!(
        "{}\n{{\"type\":\"message\",\"id\":\"e1\",\n",
        fs::read_to_string(fixture("pi")).unwrap().lines().next().unwrap()
    );
    let taken = read(&file(&torn), None).unwrap();
    assert_eq!((taken.broken, taken.whole.lines.len()), (1, 0));
    assert!(matches!(Disk::new().import(&file(&torn), Again::No), Outcome::Empty));
}

/// JSON that has little to do with what is expected.
fn strange() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z0-9]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec(("[a-z]{1,3}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Whatever is missing, doubled, out of order or of another type: what comes of it opens, and is legal when sent.
    #[test]
    fn any_mangled_session_can_be_gone_on_with(
        which in 0..5_usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8, strange()), 0..6),
    ) {
        let (name, program) = [("pi", Program::Pi), ("pi-v1", Program::Pi), ("zaica", Program::Zaica), ("claude", Program::Claude), ("codex", Program::Codex)][which];
        let mut lines = records(&fixture(name));
        for (one, other, edit, value) in edits {
            if lines.len() < 3 {
                break;
            }
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            match edit {
                0 => { lines.remove(one); }
                1 => lines.swap(one, other),
                2 => lines.insert(other, lines[one].clone()),
                _ => {
                    let keys: Vec<String> = lines[one].as_object().map(|line| line.keys().cloned().collect()).unwrap_or_default();
                    if let Some(key) = keys.get(other % keys.len().max(1)) {
                        lines[one][key.as_str()] = value;
                    }
                }
            }
        }
        let disk = Disk::new();
        let path = disk.0.path().join("x.jsonl");
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let store = disk.store();
        let outcome = Importer::new(&store, Path::new("/here"), Again::No).import(&path, Some(program)).unwrap();
        if let Outcome::Made { id, .. } = outcome {
            let opened = store.open(&Selector::Id(id), Path::new("/here")).unwrap().unwrap();
            prop_assert!(opened.notices.is_empty(), "{:?}", opened.notices);
            let sent = legal(&opened.messages);
            prop_assert_eq!(legal(&sent), sent);
        }
    }
}
