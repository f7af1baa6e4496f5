//! What a call does, in two words: a verb and what it is about.
//!
//! Names and arguments come from a model; all of them leave here harmless.

use serde_json::Value;

use crate::base::json::Object;
use crate::front::repl::view::Look;
use crate::front::repl::view::row::{first_line, plain};

/// What a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doing {
    /// How it is shown.
    pub kind: Kind,
    /// One word; a foreign tool's own name.
    pub verb: String,
    /// What it is about; may be empty.
    pub target: String,
    /// How a long target is cut.
    pub cut: Cut,
    /// Where it looks, such as `in src`; may be empty.
    pub place: String,
}

/// How a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A command: its output has an end worth seeing.
    Command,
    /// Pieces of a file change.
    Edit,
    /// A file is written.
    Write,
    /// The plan changes.
    Plan,
    /// A sub-agent works.
    Agent,
    /// Something looks; of what it found only a fact is shown.
    Quiet,
    /// A tool that is not ours.
    Unknown,
}

/// Which part of a target may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The beginning: it is a path.
    Start,
    /// The end.
    End,
}

impl Kind {
    /// Whether its output has an end worth seeing.
    pub(super) fn is_command(self) -> bool {
        match self {
            Self::Command => true,
            Self::Edit | Self::Write | Self::Plan | Self::Agent | Self::Quiet | Self::Unknown => false,
        }
    }
}

/// What a step of a chain is called among the tools: no name that a tool can have.
pub(super) const STEP: &str = "chain:step";

/// The tools that are known: their verb, the argument that says what they are about, how they are shown.
const TOOLS: [(&str, &str, &str, Kind); 17] = [
    ("read_file", "read", "path", Kind::Quiet),
    ("list_files", "list", "path", Kind::Quiet),
    ("find_files", "find", "pattern", Kind::Quiet),
    ("search_files", "search", "pattern", Kind::Quiet),
    ("write_file", "write", "path", Kind::Write),
    ("edit_file", "edit", "path", Kind::Edit),
    ("execute_bash", "bash", "command", Kind::Command),
    ("job_output", "output", "id", Kind::Command),
    ("job_stop", "stop", "id", Kind::Quiet),
    ("dispatch_agent", "agent", "task", Kind::Agent),
    ("load_skill", "skill", "name", Kind::Quiet),
    ("update_plan", "plan", "", Kind::Plan),
    ("ask_user", "ask", "question", Kind::Unknown),
    ("fetch_url", "fetch", "url", Kind::Quiet),
    ("remember", "note", "text", Kind::Quiet),
    ("find_tool", "find", "query", Kind::Quiet),
    (STEP, "step", "name", Kind::Agent),
];

impl Doing {
    /// What a call of this name and these arguments does.
    pub(super) fn of(name: &str, arguments: &Object, look: &Look) -> Self {
        let mark = look.glyphs.ellipsis;
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some((_, verb, key, kind)) = TOOLS.iter().find(|(tool, ..)| *tool == name) else {
            let said = arguments.values().find_map(Value::as_str).unwrap_or_default();
            let (verb, target) = (plain(name.trim()), first_line(said, mark));
            return Self { kind: Kind::Unknown, verb, target, cut: Cut::End, place: String::new() };
        };
        let target = match (*key, text(key)) {
            ("path", "") => ".".to_owned(),
            // The spaces in a file's name are its own.
            ("path", path) => plain(path),
            (_, said) => first_line(said, mark),
        };
        let is_search = matches!(name, "find_files" | "search_files");
        let places: Vec<&str> = [text("path"), text("glob")].into_iter().filter(|place| !place.is_empty()).collect();
        let place =
            if is_search && !places.is_empty() { format!("in {}", plain(&places.join(" "))) } else { String::new() };
        let cut = if *key == "path" { Cut::Start } else { Cut::End };
        Self { kind: *kind, verb: (*verb).to_owned(), target, cut, place }
    }
}
