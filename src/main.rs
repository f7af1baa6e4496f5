//! The `agent` program: arguments in, exit code out. Everything else is in the library.

use std::io;
use std::process::ExitCode;

use viola::base::panic;
use viola::front::out::Out;
use viola::front::queue::Queue;
use viola::front::stop::Stop;
use viola::run;

fn main() -> ExitCode {
    panic::keep_silent();
    close_to_others();
    let stop = Stop::default();
    let (mut stdout, mut stderr) = (Queue::new(io::stdout(), &stop), Queue::new(io::stderr(), &stop));
    let mut out = Out::new(&mut stdout, &mut stderr);
    ExitCode::from(run::run(std::env::args_os().collect(), &mut out, &stop))
}

/// Keeps this program's memory and environment, which hold keys, from processes of the same user: above all from the
/// commands a model runs, which could read them under `/proc`. A process that may look into every other one, such as
/// root's outside of a container, reads them anyway.
#[cfg(target_os = "linux")]
fn close_to_others() {
    // A kernel that refuses leaves things as they were.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn close_to_others() {}
