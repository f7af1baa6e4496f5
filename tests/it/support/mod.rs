//! What the tests stand on: a hermetic host for the program, and a scripted model for it to talk to.
//!
//! A test is five lines: a `Host`, a script of `Reply`s, a run, and what must be true of the `Run`, the requests, the
//! session and the files. What is wrong with a request, whatever the test looks at, fails it when the host is dropped.
//! Nothing here knows the program's insides.

mod check;
mod host;
mod http;
mod keys;
mod process;
mod pty;
mod reply;
mod request;
mod run;
mod server;
mod session;
mod tmux;
mod wire;

pub use host::{Agent, Host, KEY, MODEL, PROVIDER, environment, side_by_side};
pub use process::{Reader, Running, Stdin};
pub use pty::{Keyboard, Pty};
pub use reply::{Call, Failure, Reply, Stop, Usage, call, calls, fail, say, think};
pub use request::{Request, Role};
pub use run::Run;
pub use server::Server;
pub use session::Session;
pub use tmux::Tmux;
pub use wire::Wire;
