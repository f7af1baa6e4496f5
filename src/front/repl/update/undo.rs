//! Taking back what the last turn did, and restoring it: what it would come to is shown first, and asked about.

use crate::front::repl::key::Key;
use crate::front::repl::message::{Cmd, Order};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Overlay, State};
use crate::front::repl::view::confirm::{Answer, Confirm};
use crate::front::repl::view::undo::{self, Change, File, Tense};
use crate::product::checkpoint::plan::{ChangeKind, Direction, FileChange, Plan, What};

use super::command::{busy, say};

/// Asks what taking back, or restoring, would do.
pub(super) fn ask(state: &mut State, word: &str, direction: Direction) -> Vec<Cmd> {
    if busy(state) {
        return Vec::new();
    }
    let what = match word {
        "files" => What::Files,
        "chat" => What::Chat,
        _ => What::Both,
    };
    state.times.planned = Some(state.now);
    vec![Cmd::Order(Order::PlanUndo(what, direction))]
}

/// What it would do is known: it is shown, and asked about.
pub(super) fn planned(state: &mut State, plan: Plan) {
    let command = command(plan.direction);
    if state.times.planned.take().is_none() {
        // A key that was meant for the draft must not answer.
        return say(
            state,
            &format!("What /{command} would do came while you were writing; /{command} asks for it again."),
        );
    }
    let words = match plan.direction {
        Direction::Undo => "take back",
        Direction::Redo => "restore",
    };
    let mut block = vec![undo::title(words, plan.title.as_deref(), &state.look)];
    let files: Vec<File<'_>> = plan.files.iter().map(file).collect();
    block.extend(undo::files(&files, &state.look));
    state.paper.print(Kind::Report, block);
    state.refused = plan.files.iter().filter(|file| matches!(file.kind, ChangeKind::Refused(_))).cloned().collect();
    plan.notes.iter().for_each(|note| say(state, note));
    let is_done = |file: &File<'_>| !matches!(file.change, Change::Refused(_));
    if plan.chat.is_none() && !files.iter().any(is_done) {
        return say(state, &format!("There is nothing that /{command} can do here."));
    }
    let changes: Vec<Change<'_>> = files.iter().map(|file| file.change).collect();
    let chat = plan.chat.map(|_| match plan.direction {
        Direction::Undo => "the chat goes back before it".to_owned(),
        Direction::Redo => "the chat goes back to where it stood".to_owned(),
    });
    let parts: Vec<String> =
        [undo::summary(&changes, Tense::Planned)].into_iter().filter(|text| !text.is_empty()).chain(chat).collect();
    let (question, yes) = match plan.direction {
        Direction::Undo => (format!("Take it back? {}", parts.join("; ")), "[y]es, take it back"),
        Direction::Redo => (format!("Restore it? {}", parts.join("; ")), "[y]es, restore it"),
    };
    state.overlay = Overlay::Confirm(Confirm::new(question, yes), Box::new(plan));
}

/// A key while it is asked about.
pub(super) fn pressed(state: &mut State, key: Key) -> Vec<Cmd> {
    let Overlay::Confirm(confirm, _) = &mut state.overlay else { return Vec::new() };
    confirm.key(key).map_or_else(Vec::new, |answer| answered(state, answer))
}

/// It is done, or left.
pub(super) fn answered(state: &mut State, answer: Answer) -> Vec<Cmd> {
    let Overlay::Confirm(_, plan) = std::mem::replace(&mut state.overlay, Overlay::None) else { return Vec::new() };
    match answer {
        Answer::No => {
            say(state, "Nothing was changed.");
            Vec::new()
        }
        Answer::Yes if busy(state) => Vec::new(),
        Answer::Yes => {
            state.opening += u32::from(plan.chat.is_some());
            state.times.going = Some(state.now);
            vec![Cmd::Order(Order::CarryOut(plan))]
        }
    }
}

/// What was done to files is said, and why something was not, unless the plan that was shown has said so.
pub(super) fn done(state: &mut State, changes: &[FileChange]) {
    let known = std::mem::take(&mut state.refused);
    let is_known = |file: &FileChange| known.iter().any(|known| known.path == file.path && known.kind == file.kind);
    let unknown: Vec<File<'_>> = changes
        .iter()
        .filter(|change| matches!(change.kind, ChangeKind::Refused(_)) && !is_known(change))
        .map(file)
        .collect();
    let changes: Vec<Change<'_>> = changes.iter().map(|change| file(change).change).collect();
    let summary = undo::summary(&changes, Tense::Done);
    if !summary.is_empty() {
        say(state, &format!("{summary}."));
    }
    state.paper.print(Kind::Report, undo::files(&unknown, &state.look));
}

fn command(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    }
}

fn file(change: &FileChange) -> File<'_> {
    let FileChange { path, kind, before, after } = change;
    let change = match kind {
        ChangeKind::Restore => Change::Restore,
        ChangeKind::Create => Change::Create,
        ChangeKind::Delete => Change::Delete,
        ChangeKind::Merge => Change::Merge,
        ChangeKind::Refused(reason) => Change::Refused(reason),
    };
    File { path, change, before: before.as_deref(), after: after.as_deref() }
}
