//! The chat in real terminals: keys go in, and the screen, its scrollback, the requests and the files tell what came of it.

mod ask;
mod editing;
mod keeps;
mod leaving;
mod looks;
mod models;
mod pictures;
mod places;
mod plans;
mod steering;
mod streaming;
mod titles;

use std::time::Duration;

use crate::support::{Agent, Host, Pty};

/// A chat on 80 columns and 24 rows whose session is open.
fn chat(host: &Host) -> Pty {
    begun(host.agent(&[]))
}

/// The same with other arguments or surroundings.
fn begun(agent: Agent<'_>) -> Pty {
    let pty = agent.pty(80, 24);
    pty.wait_for("viola 0");
    pty
}

/// The same with everything allowed.
fn free(host: &Host) -> Pty {
    begun(host.agent(&["--yolo"]))
}

/// How long nothing happens until a screen counts as settled.
const SETTLED: Duration = Duration::from_millis(60);

/// Everything that came out, as text.
fn raw(pty: &Pty) -> String {
    String::from_utf8_lossy(&pty.raw()).into_owned()
}

/// Leaves by `/exit`, and everything is as it was before.
#[track_caller]
fn leave(mut pty: Pty) -> Pty {
    pty.line("/exit");
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
    pty
}

/// The terminal is as it was found: modes, line settings, and the cursor at the left edge of a line of its own.
#[track_caller]
fn assert_restored(pty: &Pty) {
    assert_eq!(pty.left_on(), [""; 0], "modes left on");
    assert!(!pty.is_raw(), "the line is still raw");
    let Some((_, column)) = pty.cursor() else { panic!("the cursor is hidden") };
    assert_eq!(column, 0, "the cursor is not at the left edge\n{}", pty.screen());
}
