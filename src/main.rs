//! The `agent` program: arguments in, exit code out. Everything else is in the library.

use std::io;
use std::process::ExitCode;

use viola::base::panic;
use viola::front::out::Out;
use viola::product::error::Error;
use viola::{base::env::Env, run};

fn main() -> ExitCode {
    panic::keep_silent();
    let (mut stdout, mut stderr) = (io::stdout(), io::stderr());
    let mut out = Out::new(&mut stdout, &mut stderr);
    let ended = panic::caught(|| {
        let env = Env::real().map_err(|error| Error::failed("the working directory is gone").caused_by(error))?;
        run::run(std::env::args_os().collect(), env, &mut out)
    });
    let code = match ended {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            out.error(&error);
            error.kind.exit_code()
        }
        Err(defect) => {
            out.error(&Error::failed(format!("internal error: {defect}")).hint("this is a defect of the program"));
            1
        }
    };
    ExitCode::from(code)
}
