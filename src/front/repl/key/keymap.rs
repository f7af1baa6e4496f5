//! Which key does what: the defaults, and the user's own keys over them.
//!
//! The table here is all there is to say about actions: their names for the configuration, one line of help, and the
//! keys they have from the start. What an action does is not known here.

mod name;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::Value;
use thiserror::Error;

use super::action::{Action, Edit};
use super::{Code, Key, Mods};
use crate::base::json::Object;
use crate::base::text::likeness;

pub use name::name;

/// An action as people know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// What it is called in the configuration.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// The keys it has from the start.
    keys: &'static [&'static str],
}

/// Writes the list of all actions and their descriptions from one table; an action that is missing does not compile.
macro_rules! actions {
    ($([$($action:tt)+] $name:literal $help:literal $keys:expr;)+) => {
        /// All actions, in the order in which they are shown.
        pub const ACTIONS: &[Action] = &[$($($action)+),+];

        /// What there is to say about an action.
        pub const fn described(action: Action) -> Described {
            match action {
                $($($action)+ => Described { name: $name, help: $help, keys: &$keys },)+
            }
        }
    };
}

actions! {
    [Action::Submit] "submit" "send; while it works, steer it" ["enter", "ctrl-enter", "ctrl-m"];
    [Action::Edit(Edit::Newline)] "newline" "a new line" ["shift-enter", "alt-enter", "ctrl-j", "ctrl-alt-j"];
    [Action::Queue] "queue" "send after the running task; else complete" ["tab", "ctrl-i"];
    [Action::Stop] "stop" "stop the task, close what is open" ["esc", "ctrl-["];
    [Action::Interrupt] "interrupt" "clear the draft, then stop, then leave" ["ctrl-c"];
    [Action::Leave] "leave" "leave if nothing is written, else delete to the right" ["ctrl-d"];
    [Action::Suspend] "suspend" "back to the shell for a while" ["ctrl-z"];
    [Action::Up] "up" "a line up, or an earlier message" ["up", "ctrl-p"];
    [Action::Down] "down" "a line down, or a later message" ["down", "ctrl-n"];
    [Action::Search] "search" "search earlier messages" ["ctrl-r"];
    [Action::Expand] "expand" "show the last result or the paste at the caret whole" ["ctrl-o"];
    [Action::Reasoning] "reasoning" "show or fold reasoning" ["alt-t"];
    [Action::Paste] "paste" "paste from the clipboard: a picture, else text" ["ctrl-v", "alt-v"];
    [Action::External] "external" "write in an editor of your own" ["ctrl-g"];
    [Action::Redraw] "redraw" "paint everything anew" ["ctrl-l"];
    [Action::Background] "background" "a running command to the background; else a character left" ["ctrl-b"];
    [Action::Edit(Edit::Left)] "left" "a character left" ["left"];
    [Action::Edit(Edit::Right)] "right" "a character right" ["right", "ctrl-f"];
    [Action::Edit(Edit::WordLeft)] "word-left" "a word left" ["alt-b", "alt-left", "ctrl-left"];
    [Action::Edit(Edit::WordRight)] "word-right" "a word right" ["alt-f", "alt-right", "ctrl-right"];
    [Action::Edit(Edit::LineStart)] "line-start" "beginning of the line" ["ctrl-a", "home"];
    [Action::Edit(Edit::LineEnd)] "line-end" "end of the line" ["ctrl-e", "end"];
    [Action::Edit(Edit::DraftStart)] "draft-start" "beginning of the draft" ["ctrl-home", "alt-<"];
    [Action::Edit(Edit::DraftEnd)] "draft-end" "end of the draft" ["ctrl-end", "alt->"];
    [Action::Edit(Edit::DeleteLeft)] "delete-left" "delete to the left" ["backspace", "ctrl-h"];
    [Action::Edit(Edit::DeleteRight)] "delete-right" "delete to the right" ["delete"];
    [Action::Edit(Edit::KillWordLeft)] "kill-word-left" "cut the word to the left"
        ["alt-backspace", "ctrl-backspace", "ctrl-alt-h"];
    [Action::Edit(Edit::KillBlankWordLeft)] "kill-blank-word-left" "cut to the left up to a space" ["ctrl-w"];
    [Action::Edit(Edit::KillWordRight)] "kill-word-right" "cut the word to the right"
        ["alt-d", "alt-delete", "ctrl-delete"];
    [Action::Edit(Edit::KillToEnd)] "kill-to-end" "cut to the end of the line" ["ctrl-k"];
    [Action::Edit(Edit::KillToStart)] "kill-to-start" "cut to the beginning of the line" ["ctrl-u"];
    [Action::Edit(Edit::Yank)] "yank" "insert what was cut" ["ctrl-y"];
    [Action::Edit(Edit::YankPop)] "yank-pop" "after that: what was cut before it" ["alt-y"];
    [Action::Edit(Edit::Undo)] "undo" "take the last change back" ["ctrl-_", "ctrl-/"];
    [Action::Edit(Edit::Redo)] "redo" "make it again" ["alt-_", "ctrl-shift-z"];
    [Action::Edit(Edit::Transpose)] "transpose" "swap two characters" ["ctrl-t"];
    [Action::Edit(Edit::Upper)] "upper" "upper case to the end of the word" ["alt-u"];
    [Action::Edit(Edit::Lower)] "lower" "lower case to the end of the word" ["alt-l"];
    [Action::Edit(Edit::Capitalize)] "capitalize" "capital letter" ["alt-c"];
}

/// What a key is bound to that shall do nothing.
const NOTHING: &str = "none";

/// What Enter does (`ui.enter`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enter {
    /// It submits.
    #[default]
    Submits,
    /// It inserts a line break; with Alt or Ctrl it submits.
    BreaksLines,
}

/// A line of `ui.keys` that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("ui.keys: {0}")]
pub struct KeyError(String);

/// A row of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The action's name in the configuration.
    pub name: &'static str,
    /// Its keys, the usual one first; empty where it has none.
    pub keys: Vec<String>,
    /// What it does.
    pub help: &'static str,
}

/// What every key does.
#[derive(Clone, Debug)]
pub struct Keymap {
    /// `None`: nothing, on the user's own wish.
    bound: HashMap<Key, Option<Action>>,
    /// The same in the order in which keys are shown: the user's own first.
    order: Vec<Key>,
}

impl Keymap {
    /// The defaults, and over them the user's `ui.keys`: `{"ctrl-x": "stop", "f2": "none"}`.
    ///
    /// # Errors
    ///
    /// The first entry that is no key or no action, with what was expected.
    pub fn new(enter: Enter, own: &Object) -> Result<Self, KeyError> {
        let mut map = Self { bound: HashMap::new(), order: Vec::new() };
        for (written, value) in own {
            let key = name::read(written).map_err(KeyError)?;
            let action = action_named(written, value)?;
            if map.bound.insert(key, action).is_none() {
                map.order.push(key);
            }
        }
        if enter == Enter::BreaksLines {
            let with = |mods| Key { code: Code::Enter, mods };
            map.add(with(Mods::NONE), Action::Edit(Edit::Newline));
            map.add(Key::ctrl('m'), Action::Edit(Edit::Newline));
            map.add(with(Mods::ALT), Action::Submit);
        }
        for action in ACTIONS {
            for key in described(*action).keys.iter().filter_map(|key| name::read(key).ok()) {
                map.add(key, *action);
            }
        }
        Ok(map)
    }

    /// What a key does, if it does something. One that nobody has bound does what the same key does without Shift; only
    /// for Enter, Tab, and characters with Ctrl that would be too much to guess.
    pub fn action(&self, key: Key) -> Option<Action> {
        if let Some(action) = self.bound.get(&key) {
            return *action;
        }
        let chosen = match key.code {
            Code::Enter | Code::Tab => true,
            Code::Char(_) => key.mods.ctrl,
            Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Esc
            | Code::Up
            | Code::Down
            | Code::Left
            | Code::Right
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown
            | Code::Function(_) => false,
        };
        let without = Key { mods: Mods { shift: false, ..key.mods }, ..key };
        if key.mods.shift && !chosen { self.bound.get(&without).copied().flatten() } else { None }
    }

    /// The names of an action's keys, the usual one first.
    pub fn keys_of(&self, action: Action) -> Vec<String> {
        let keys = self.order.iter().filter(|key| self.bound.get(key) == Some(&Some(action)) && !is_twin(**key));
        keys.map(|key| name(*key)).collect()
    }

    /// All actions and their keys, in the order in which they are shown.
    pub fn table(&self) -> Vec<Row> {
        let row = |action: &Action| {
            let Described { name, help, keys: _ } = described(*action);
            Row { name, keys: self.keys_of(*action), help }
        };
        ACTIONS.iter().map(row).collect()
    }

    fn add(&mut self, key: Key, action: Action) {
        if let Entry::Vacant(free) = self.bound.entry(key) {
            free.insert(Some(action));
            self.order.push(key);
        }
    }
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(Enter::Submits, &Object::new()).unwrap_or(Self { bound: HashMap::new(), order: Vec::new() })
    }
}

/// Keys that old terminals cannot tell from the one named after them, so that nobody needs to be told of both.
fn is_twin(key: Key) -> bool {
    [Key::ctrl('m'), Key::ctrl('i'), Key::ctrl('[')].contains(&key)
}

fn action_named(key: &str, value: &Value) -> Result<Option<Action>, KeyError> {
    let Value::String(name) = value else {
        return Err(KeyError(format!("`{key}`: expected the name of an action, or \"{NOTHING}\"")));
    };
    let wanted = name.trim().to_ascii_lowercase();
    if wanted == NOTHING {
        return Ok(None);
    }
    if let Some(action) = ACTIONS.iter().find(|action| described(**action).name == wanted) {
        return Ok(Some(*action));
    }
    let mut names: Vec<String> = ACTIONS.iter().map(|action| described(*action).name.to_owned()).collect();
    names.push(NOTHING.to_owned());
    let near = likeness::alike(&wanted, &names, 3);
    Err(KeyError(format!(
        "`{key}`: no action is called `{name}`; {}",
        if near.is_empty() {
            format!("expected one of {}", names.join(", "))
        } else {
            format!("did you mean {}", near.join(", "))
        }
    )))
}
