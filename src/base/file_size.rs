//! The limit on the size of files (`ulimit -f`): going on past it, where the system would end the program.
//!
//! Changes what one signal does, for the whole program and for good; sets no limit.

use std::io;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Makes a write past the limit an error like any other. Commands that are started later are ended by it as ever, since a
/// handler, unlike an ignored signal, is not passed on.
///
/// # Errors
///
/// When the system has no handles left.
pub fn survive_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    // Nobody listens; what counts is that there is a handler, and that stays.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}
