//! What a copy of a session takes along besides what was said: what was allowed, names, notes, snapshots.
//!
//! The lines of the conversation itself are copied as they stand by [`super::log`]; the session they come from is only read.

use crate::product::error::Error;
use crate::product::permission::Grant;

use super::Session;
use super::entry::PruneLine;
use super::load::Loaded;
use super::tree::{NodeKind, Tree};

/// How many stretches of ids are spelled out.
const STRETCHES: usize = 12;

impl Session {
    /// Keeps what belongs to `line`, the numbers of the lines that are copied, or to the whole session; of what was allowed
    /// only what counts here.
    ///
    /// # Errors
    ///
    /// The first failure to write, see [`Session`].
    pub(super) fn carry(&mut self, loaded: &Loaded, line: &[usize], grant: Option<Grant>) -> Result<(), Error> {
        let is_copied = |id: u64| loaded.tree.place(line, id).is_some();
        if let Some(mode) = grant {
            self.append_grant(mode)?;
        }
        self.append_refused(loaded.refused.iter().cloned())?;
        if let Some(name) = &loaded.name {
            self.append_name(name.clone())?;
        }
        for first_kept_id in loaded.pruned.iter().copied().filter(|id| is_copied(*id)) {
            self.append_aside(&PruneLine { first_kept_id })?;
        }
        for (id, label) in loaded.labels.iter().filter(|(id, _)| is_copied(**id)) {
            self.append_label(*id, Some(label.clone()))?;
        }
        for (id, reference) in loaded.checkpoints.iter().filter(|(id, _)| is_copied(**id)) {
            self.append_checkpoint(*id, reference.clone())?;
        }
        Ok(())
    }
}

/// The ids of the lines at which a conversation can stand, in words: `1-5, 7, 9-12`.
pub(super) fn ids(tree: &Tree) -> String {
    let is_said = |number: &usize| match tree.kind(*number) {
        NodeKind::Message | NodeKind::Summary { .. } => true,
        NodeKind::Other => false,
    };
    let mut ids: Vec<_> = (0..tree.count()).filter(is_said).filter_map(|number| tree.id(number)).collect();
    ids.sort_unstable();
    ids.dedup();
    let stretches: Vec<_> = ids.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect();
    let words = stretches.iter().take(STRETCHES).filter_map(|stretch| match stretch {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if stretches.len() > STRETCHES { format!("{words}, …") } else { words }
}
