//! Pictures on their way into the draft: a paste that names some, and what the clipboard holds.
//!
//! A pasted path stands as text until somebody has looked whether it is a picture; a message waits for that.

use crate::base::text::dropped;
use crate::front::repl::message::{Asked, Clip, Cmd, Named};
use crate::front::repl::state::{Overlay, Sending, State};

use super::command::say;
use super::{keys, overlay, send};

/// A text was pasted into the draft.
pub(super) fn pasted(state: &mut State, text: &str) -> Vec<Cmd> {
    if text.is_empty() {
        // Some terminals have nothing else to say of a picture.
        state.looks += 1;
        return vec![Cmd::Paste(Asked::ByTerminal)];
    }
    state.editor.paste(text);
    let mut cmds = keys::written(state);
    if !dropped::readings(text).is_empty() {
        state.looks += 1;
        cmds.push(Cmd::Look(text.to_owned()));
    }
    cmds
}

/// A key asks for what the clipboard holds.
pub(super) fn ask(state: &mut State) -> Vec<Cmd> {
    state.looks += 1;
    vec![Cmd::Paste(Asked::ByKey)]
}

/// A pasted text was looked at.
pub(super) fn seen(state: &mut State, text: &str, named: Named) -> Vec<Cmd> {
    match named {
        // What was edited or sent meanwhile stays as it is.
        Named::Pictures(pictures) => {
            if state.editor.replace_pasted(text, &pictures) {
                inserted(state);
            }
        }
        Named::Unfit(why) => say(state, &why),
        Named::Nothing => {}
    }
    looked(state)
}

/// The clipboard was looked into.
pub(super) fn clipped(state: &mut State, clip: Clip) -> Vec<Cmd> {
    let mut cmds = Vec::new();
    match clip {
        Clip::Picture(picture) => {
            state.editor.insert_pictures(&[picture]);
            inserted(state);
        }
        Clip::Text(text) => cmds = keys::pasted(state, &text),
        Clip::Nothing(why) => why.iter().for_each(|why| say(state, why)),
    }
    cmds.extend(looked(state));
    cmds
}

/// The draft has pictures that it had not before.
fn inserted(state: &mut State) {
    state.times.draft = Some(state.now);
    if let Some(session) = state.session.as_ref().filter(|session| !session.info.images) {
        let text =
            format!("{} sees no pictures, as far as is known; it is told that one was there.", session.info.label);
        say(state, &text);
    }
}

/// One look less is to come; what waited for the last one happens.
fn looked(state: &mut State) -> Vec<Cmd> {
    state.looks = state.looks.saturating_sub(1);
    if state.looks > 0 {
        return Vec::new();
    }
    match state.after_looks.take() {
        Some(Sending::Submit) => send::submit(state),
        Some(Sending::Queue) => send::queue(state),
        None => match state.overlay {
            Overlay::None | Overlay::Completion(_) => overlay::look(state),
            Overlay::Picker(..)
            | Overlay::Search(_)
            | Overlay::Tree(..)
            | Overlay::Shelf(..)
            | Overlay::Confirm(..) => Vec::new(),
        },
    }
}
