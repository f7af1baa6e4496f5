//! What becomes of a path when a change of it is taken back, although somebody may have changed it since.
//!
//! Decides by what is kept, and keeps what a merge makes; no file of the workspace is looked at.

use super::merge::{Merged, merge};
use super::objects::Objects;
use super::plan::Direction;
use super::state::{Content, State};

/// Decides by these contents.
#[derive(Clone, Copy, Debug)]
pub struct Decider<'a> {
    /// What is kept.
    pub objects: &'a Objects,
}

impl Decider<'_> {
    /// What stands at a path once some changes of it, the last one first, are taken back or restored; and whether that took
    /// a merge.
    pub fn turned<'c>(
        &self,
        direction: Direction,
        now: &State,
        changes: impl Iterator<Item = &'c (State, State)>,
    ) -> Result<(State, bool), String> {
        let (mut then, mut merged) = (now.clone(), false);
        for (before, after) in changes {
            let (wanted, base) = match direction {
                Direction::Undo => (before, after),
                Direction::Redo => (after, before),
            };
            let (next, by_merge) = self.one_back(&then, base, wanted)?;
            then = next;
            merged |= by_merge;
        }
        Ok((then, merged))
    }

    /// What becomes of `now` when `base` goes back to `wanted`.
    fn one_back(&self, now: &State, base: &State, wanted: &State) -> Result<(State, bool), String> {
        if now.is_like(wanted) {
            return Ok((now.clone(), false));
        }
        if now.is_like(base) {
            return Ok((self.restored(now, base, wanted)?, false));
        }
        match (now, base, wanted) {
            (_, _, State::Folder) | (_, State::Folder, State::Absent) => Ok((now.clone(), false)),
            (
                State::File { content: Content::Kept(ours), mode },
                State::File { content: Content::Kept(old), .. },
                State::File { content: Content::Kept(theirs), mode: wanted_mode },
            ) => {
                let read = |digest| self.objects.get(digest).map_err(|error| error.to_string());
                let content = if ours == old {
                    *theirs
                } else if theirs == old {
                    *ours
                } else {
                    match merge(&read(old)?, &read(ours)?, &read(theirs)?) {
                        Merged::Clean(content) => self.objects.put(&content).map_err(|error| error.to_string())?,
                        Merged::Conflict => return Err("it was changed in the same lines since".to_owned()),
                        Merged::NoText => return Err("it was changed since".to_owned()),
                    }
                };
                let mode = if base.is_executable() == wanted.is_executable() { *mode } else { *wanted_mode };
                Ok((State::File { content: Content::Kept(content), mode }, true))
            }
            (State::Absent, _, _) => Err("it was deleted since".to_owned()),
            (State::Folder, _, _) => Err("a folder stands in its place by now".to_owned()),
            (State::File { .. } | State::Link { .. } | State::Special, State::Absent, _) => {
                Err("something else was put there since".to_owned())
            }
            (State::File { .. } | State::Link { .. } | State::Special, _, _) => Err("it was changed since".to_owned()),
        }
    }

    /// What is wanted, with the permissions that were given since, if it can be had and what stands there can be kept.
    fn restored(&self, now: &State, base: &State, wanted: &State) -> Result<State, String> {
        for state in [wanted, now] {
            match state {
                State::File { content: Content::Large { .. }, .. } => {
                    return Err("it is larger than 10 MB, or could not be read, and was not kept".to_owned());
                }
                State::File { content: Content::Lost, .. } => return Err("git has its content no more".to_owned()),
                State::File { content: Content::Kept(digest), .. } if !self.objects.has(digest) => {
                    return Err("its content is no longer kept".to_owned());
                }
                State::Special => return Err("it is no file".to_owned()),
                State::Absent | State::Folder | State::Link { .. } | State::File { .. } => {}
            }
        }
        Ok(match (wanted, now) {
            (State::File { content, .. }, State::File { mode, .. })
                if base.is_executable() == wanted.is_executable() =>
            {
                State::File { content: content.clone(), mode: *mode }
            }
            (wanted, _) => wanted.clone(),
        })
    }
}
