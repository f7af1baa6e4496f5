//! The program's log: what happened when, for finding out later why. `logs/agent.log` in the data folder, an object a line.
//!
//! Lines wait in memory and are written beside the work, so that nothing is slower for it; a full disk drops them. What is
//! said, and what calls are given and give back, is never in it, nor are a provider's own words, which may quote it.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::base::clock::Clock;
use crate::base::json::Object;
use crate::base::rolling::{Bounds, Rolling};
use crate::base::text::cut;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::model::error::ErrorKind;
use crate::model::message::Origin;

/// The folder of the logs in the data folder.
pub const FOLDER: &str = "logs";
/// The name of the files, without their endings.
pub const NAME: &str = "agent";
/// 5 MB a file, which opens in any editor; with the old ones less than 100 MB in all.
const BOUNDS: Bounds = Bounds { file_bytes: 5_000_000, old_files: 18 };
/// What waits for being written is at most this, in bytes: some hundred turns.
const MOST_WAITING: usize = 64 << 10;
/// A text in a line is cut to this many characters, so that one line is a small part of a file.
const TEXT_CHARS: usize = 300;

/// The log of one run of the program; clones write the same one. Keeps nothing before [`Journal::begin`].
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Behind a lock of its own: nobody who adds a line waits for the disk.
    file: Mutex<Option<Rolling>>,
}

#[derive(Debug, Default)]
struct State {
    /// Where it is kept, once something has begun.
    folder: Option<PathBuf>,
    clock: Clock,
    begun_ms: i64,
    waiting: Vec<u8>,
    /// Who was asked last, and when.
    asked: Option<(Arc<Origin>, u32, i64)>,
}

/// What begins.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a> {
    /// Where data is kept.
    pub data_dir: &'a Path,
    /// The time.
    pub clock: Clock,
    /// Whether somebody watches.
    pub mode: &'static str,
    /// The working directory, without known secrets.
    pub cwd: &'a str,
    /// The session, if it is kept.
    pub session: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl Journal {
    /// A conversation begins, or is gone on with. Touches no disk.
    pub fn begin(&self, begun: Begun<'_>) {
        let Begun { data_dir, clock, mode, cwd, session } = begun;
        let mut state = self.state();
        if state.folder.is_none() {
            state.clock = clock;
            state.begun_ms = clock.now_ms();
            state.folder = Some(data_dir.join(FOLDER));
        }
        let version = env!("CARGO_PKG_VERSION");
        let facts = json!({"version": version, "mode": mode, "cwd": short(cwd), "session": session});
        state.add(Level::Info, "start", facts);
    }

    /// Something happened in a conversation.
    pub fn event(&self, event: &Event) {
        if let Event::Within(_, within) = event {
            return self.event_within(within);
        }
        let mut state = self.state();
        match event {
            Event::TurnStarted { turn, origin, .. } => {
                state.asked = Some((Arc::clone(origin), *turn, state.clock.now_ms()));
            }
            Event::TurnFinished { turn: _, stop, usage, cost } => {
                let mut facts = state.answered(true);
                facts.insert("stop".into(), json!(stop.as_str()));
                facts.insert("input_tokens".into(), json!(usage.input));
                facts.insert("cached_tokens".into(), json!(usage.cache_read + usage.cache_write));
                facts.insert("output_tokens".into(), json!(usage.output));
                facts.insert("cost_usd".into(), json!(cost));
                state.add(Level::Info, "model", Value::Object(facts));
            }
            Event::Failed { kind, message, retryable } => {
                let mut facts = state.answered(false);
                facts.insert("kind".into(), json!(kind.code()));
                facts.insert("retryable".into(), json!(retryable));
                if is_ours(*kind) {
                    facts.insert("text".into(), json!(short(message)));
                }
                state.add(Level::Error, "model", Value::Object(facts));
            }
            Event::ToolFinished { name, ok, duration_ms, .. } => {
                let facts = json!({"name": short(name), "ok": ok, "duration_ms": duration_ms});
                state.add(if *ok { Level::Info } else { Level::Warn }, "tool", facts);
            }
            Event::Notice(notice) => {
                let facts = json!({"code": notice.code.as_str(), "text": harmless(notice)});
                state.add(Level::Warn, "notice", facts);
            }
            Event::Text(_)
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Within(..) => {}
        }
    }

    /// Something happened to a part of the task. Several answers may be under way there, so nothing is said of how long
    /// one took.
    fn event_within(&self, event: &Event) {
        match event {
            Event::TurnStarted { .. } | Event::TurnFinished { .. } => {}
            Event::Within(_, within) => self.event_within(within),
            Event::Failed { .. }
            | Event::ToolFinished { .. }
            | Event::Notice(_)
            | Event::Text(_)
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::Steered { .. }
            | Event::Question { .. } => self.event(event),
        }
    }

    /// A defect of the program was met, at a place in its source. What was said is left out, since it may quote anything.
    pub fn panicked(&self, place: &str) {
        // One who panics while adding a line holds the lock.
        if let Ok(mut state) = self.0.state.try_lock() {
            state.add(Level::Error, "panic", json!({"place": place}));
        }
    }

    /// The program ends with this exit code; what waits is written.
    pub fn end(&self, code: u8) {
        let mut state = self.state();
        let duration_ms = state.clock.now_ms() - state.begun_ms;
        state.add(Level::Info, "end", json!({"exit_code": code, "duration_ms": duration_ms}));
        drop(state);
        self.write();
    }

    /// Writes what waits. Lines that find no room are dropped.
    pub fn write(&self) {
        let mut file = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.state();
        let lines = mem::take(&mut state.waiting);
        let Some(folder) = state.folder.as_ref().filter(|_| !lines.is_empty()) else { return };
        let file = file.get_or_insert_with(|| Rolling::new(folder, NAME, BOUNDS));
        drop(state);
        // There is nobody left to tell.
        let _ = file.append(&lines);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, level: Level, event: &str, facts: Value) {
        if self.folder.is_none() || self.waiting.len() > MOST_WAITING {
            return;
        }
        let time = Timestamp::from_millisecond(self.clock.now_ms()).unwrap_or_default();
        let mut line = Object::new();
        line.insert("time".into(), json!(format!("{time:.3}")));
        line.insert("level".into(), json!(level.as_str()));
        line.insert("pid".into(), json!(std::process::id()));
        line.insert("event".into(), json!(event));
        if let Value::Object(facts) = facts {
            line.extend(facts);
        }
        self.waiting.extend_from_slice(Value::Object(line).to_string().as_bytes());
        self.waiting.push(b'\n');
    }

    /// What is known of an answer, whatever came of it.
    fn answered(&mut self, ok: bool) -> Object {
        let mut facts = Object::new();
        if let Some((origin, turn, since)) = self.asked.take() {
            facts.insert("provider".into(), json!(origin.provider));
            facts.insert("model".into(), json!(origin.model));
            facts.insert("turn".into(), json!(turn));
            facts.insert("duration_ms".into(), json!(self.clock.now_ms() - since));
        }
        facts.insert("ok".into(), json!(ok));
        facts
    }
}

/// Whether an error of this kind is told in our own words.
fn is_ours(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Network | ErrorKind::Timeout | ErrorKind::Empty | ErrorKind::Cancelled => true,
        ErrorKind::Auth
        | ErrorKind::RateLimit
        | ErrorKind::Overload
        | ErrorKind::Context
        | ErrorKind::Refused
        | ErrorKind::Picture
        | ErrorKind::Seal
        | ErrorKind::InvalidRequest
        | ErrorKind::Length
        | ErrorKind::Internal => false,
    }
}

/// What a notice says, without what others say in it.
fn harmless(notice: &Notice) -> Option<String> {
    match notice.code {
        // A provider's own words come behind a colon.
        NoticeCode::Retry | NoticeCode::Fallback => notice.text.split(": ").next().map(short),
        NoticeCode::Loop
        | NoticeCode::Session
        | NoticeCode::Sandbox
        | NoticeCode::Compaction
        | NoticeCode::Stdin
        | NoticeCode::Chain => Some(short(&notice.text)),
        NoticeCode::Trust
        | NoticeCode::Config
        | NoticeCode::Secrets
        | NoticeCode::Replay
        | NoticeCode::Rules
        | NoticeCode::Skills
        | NoticeCode::Job
        | NoticeCode::Goal => None,
    }
}

fn short(text: &str) -> String {
    cut::ellipsis(text, TEXT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reply::StopReason;
    use crate::model::usage::Usage;

    fn begun(folder: &Path) -> Journal {
        let journal = Journal::default();
        let clock = Clock::Fixed(1_796_070_000_123);
        journal.begin(Begun { data_dir: folder, clock, mode: "chat", cwd: "/w", session: Some("s") });
        journal
    }

    fn failed(kind: ErrorKind, message: &str) -> Event {
        Event::Failed { kind, message: message.into(), retryable: false }
    }

    fn notice(code: NoticeCode, text: &str) -> Event {
        Event::Notice(Notice::new(code, text))
    }

    #[test]
    fn a_run_in_lines() {
        let folder = tempfile::tempdir().unwrap();
        let journal = begun(folder.path());
        let origin = Arc::new(Origin { provider: "p".into(), model: "m".into() });
        let context = crate::kernel::event::Context { tokens: 1, window: None };
        let asked = |turn| Event::TurnStarted { turn, origin: Arc::clone(&origin), label: "l".into(), context };
        journal.event(&asked(0));
        journal.event(&Event::Text("SECRET".into()));
        let usage = Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, ..Usage::default() };
        journal.event(&Event::TurnFinished { turn: 0, stop: StopReason::ToolUse, usage, cost: None });
        journal.event(&Event::ToolFinished {
            id: "c".into(),
            name: "t".into(),
            ok: false,
            output: "SECRET".into(),
            duration_ms: 7,
            truncated: false,
            full_output: None,
            change: None,
        });
        journal.event(&notice(NoticeCode::Retry, "overloaded, trying again in 1 s (1 of 4): you said SECRET"));
        journal.event(&notice(NoticeCode::Config, "@SECRET was not attached"));
        journal.event(&asked(1));
        journal.event(&failed(ErrorKind::InvalidRequest, "bad: SECRET"));
        journal.event(&failed(ErrorKind::Network, "no way"));
        assert!(!folder.path().join(FOLDER).exists(), "nothing is written before it is asked for");
        journal.end(4);
        let text = std::fs::read_to_string(folder.path().join("logs/agent.log")).unwrap();
        let pid = format!("\"pid\":{},", std::process::id());
        let version = env!("CARGO_PKG_VERSION");
        let begin = |level| format!("{{\"time\":\"2026-11-30T20:20:00.123Z\",\"level\":\"{level}\",{pid}\"event\":");
        let model = "\"model\",\"provider\":\"p\",\"model\":\"m\",\"turn\"";
        let expected = [
            (
                "info",
                format!("\"start\",\"version\":\"{version}\",\"mode\":\"chat\",\"cwd\":\"/w\",\"session\":\"s\"}}"),
            ),
            (
                "info",
                format!(
                    "{model}:0,\"duration_ms\":0,\"ok\":true,\"stop\":\"tool_use\",\"input_tokens\":1,\
                     \"cached_tokens\":7,\"output_tokens\":2,\"cost_usd\":null}}"
                ),
            ),
            ("warn", "\"tool\",\"name\":\"t\",\"ok\":false,\"duration_ms\":7}".into()),
            ("warn", "\"notice\",\"code\":\"retry\",\"text\":\"overloaded, trying again in 1 s (1 of 4)\"}".into()),
            ("warn", "\"notice\",\"code\":\"config\",\"text\":null}".into()),
            (
                "error",
                format!("{model}:1,\"duration_ms\":0,\"ok\":false,\"kind\":\"invalid_request\",\"retryable\":false}}"),
            ),
            ("error", "\"model\",\"ok\":false,\"kind\":\"network\",\"retryable\":false,\"text\":\"no way\"}".into()),
            ("info", "\"end\",\"exit_code\":4,\"duration_ms\":0}".into()),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(level, rest)| begin(level) + &rest).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_never_began_leaves_no_log() {
        let journal = Journal::default();
        journal.event(&notice(NoticeCode::Session, "x"));
        journal.end(2);
        assert!(journal.state().waiting.is_empty());
    }

    #[test]
    fn waiting_lines_have_a_limit_and_a_full_disk_drops_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FOLDER), "in the way").unwrap();
        let journal = begun(folder.path());
        (0..10_000).for_each(|_| journal.event(&notice(NoticeCode::Session, &"x".repeat(1000))));
        assert!(journal.state().waiting.len() < MOST_WAITING + 1000);
        journal.end(0);
        assert!(journal.state().waiting.is_empty());
    }
}
