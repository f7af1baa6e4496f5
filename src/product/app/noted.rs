//! What the log says of a conversation's beginning: who, where, and what a person was told.
//!
//! Says nothing of what is said in it.

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::kernel::event::{Event, Notice};
use crate::product::agent::redact::Redactor;
use crate::product::config::Loaded;
use crate::product::journal::{Begun, Journal};
use crate::product::prompt::Mode;
use crate::product::session::Session;

/// Notes that a conversation begins, or is gone on with.
pub(super) fn beginning(
    journal: &Journal,
    loaded: &Loaded,
    env: &Env,
    clock: Clock,
    mode: Mode,
    session: &Session,
    redactor: &Redactor,
) {
    let mut cwd = env.cwd.display().to_string();
    redactor.redact(&mut cwd);
    let mode = match mode {
        Mode::Interactive => "chat",
        Mode::OneShot => "one-shot",
    };
    let session = session.is_kept().then(|| session.id());
    journal.begin(Begun { data_dir: &loaded.paths.data_dir, clock, mode, cwd: &cwd, session });
}

/// Notes what a person is told before anything is said.
pub(super) fn notices(journal: &Journal, redactor: &Redactor, notices: &[Notice]) {
    for notice in notices {
        journal.event(&redactor.event(&Event::Notice(notice.clone())));
    }
}
