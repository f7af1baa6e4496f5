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
    let stop = Stop::default();
    let (mut stdout, mut stderr) = (Queue::new(io::stdout(), &stop), Queue::new(io::stderr(), &stop));
    let mut out = Out::new(&mut stdout, &mut stderr);
    ExitCode::from(run::run(std::env::args_os().collect(), &mut out, &stop))
}
