//! From a command line to an exit code: which part of the program it is for.
//!
//! Like `cli`, this stands above the layers; it decides nothing that a front end or the product could decide.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::cli::read::{Parsed, command as declaration, parse};
use crate::cli::{Cli, Command, ConfigAction, OutputFormat, SessionsAction, Stdin, Task};
use crate::front::command::config::Action;
use crate::front::command::sessions::Scope;
use crate::front::command::{self, Form};
use crate::front::out::Out;
use crate::front::print::one_shot::{Asked, Goal, Style};
use crate::front::print::{Format, Talk, demo, one_shot};
use crate::front::stdin::Reading;
use crate::front::wire;
use crate::product::agent::report::Report;
use crate::product::app::{self, Parts, Which};
use crate::product::config::choose::choose;
use crate::product::config::paths::Paths;
use crate::product::config::{self, Flags};
use crate::product::error::Error;
use crate::product::session::store::{Selector, Store};
use crate::product::tool::workspace::Workspace;

/// Runs the program. `words` begin with its own name.
///
/// # Errors
///
/// What stopped it; its kind is the exit code.
pub fn run(words: Vec<OsString>, mut env: Env, out: &mut Out<'_>) -> Result<u8, Error> {
    let cli = match parse(words)? {
        Parsed::Run(cli) => *cli,
        Parsed::Show(text) => {
            out.data(text.as_bytes())?;
            return Ok(0);
        }
    };
    if let Some(cwd) = &cli.task.cwd {
        env.cwd = enter(&env, cwd)?;
    }
    let flags = cli.task.flags();
    let clock = Clock::System;
    let talk = talk(&cli);
    match cli.command {
        None => task(&cli.task, &flags, &env, clock, talk, out),
        Some(Command::Demo { keep, output_format }) => {
            demo::run(keep.as_deref(), format(output_format), talk, &env, clock, out)
        }
        Some(Command::Sessions { action }) => sessions(&action, &env, clock, out),
        Some(Command::Config { action }) => {
            out.both(|stdout, stderr| command::config::run(&config_action(action), &env, &flags, stdout, stderr))
        }
        Some(Command::Trust { dir }) => {
            let mut input = BufReader::new(io::stdin());
            out.both(|stdout, _| command::trust::run(dir.as_deref(), &env, &flags, clock, &mut input, stdout))
        }
        Some(Command::Tools { json }) => {
            let loaded = config::load(&env, &flags)?;
            let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &[]).map_err(Error::usage)?;
            let tools = app::toolbox(&loaded, &env, &Arc::new(workspace), &Arc::default(), Mask::default())?;
            out.both(|stdout, _| command::tools::run(&tools, form(json), stdout))
        }
        Some(Command::Doctor) => out.both(|stdout, stderr| {
            command::doctor::run(&env, &flags, command::doctor::Terminal::real(), stdout, stderr)
        }),
        Some(Command::Completions { shell }) => {
            out.both(|stdout, _| command::completions::run(shell, declaration(), stdout))
        }
    }
}

/// A task on the command line. In the JSON formats the output ends with a `result` even when the task cannot begin.
fn task(task: &Task, flags: &Flags, env: &Env, clock: Clock, talk: Talk, out: &mut Out<'_>) -> Result<u8, Error> {
    let style = Style { format: format(task.output.output_format), talk, goal: Goal::Answer };
    let ended = begin(task, flags, env, clock, style, out);
    if let Err(error) = &ended
        && style.format != Format::Text
    {
        out.data(&wire::result(&Report::never_began(error), "none"))?;
    }
    ended
}

fn begin(task: &Task, flags: &Flags, env: &Env, clock: Clock, style: Style, out: &mut Out<'_>) -> Result<u8, Error> {
    let reading = match task.stdin {
        Stdin::Auto => Reading::Auto,
        Stdin::Wait => Reading::Wait,
        Stdin::None => Reading::Never,
    };
    let one_shot = task.print
        || !rustix::termios::isatty(rustix::stdio::stdin())
        || !rustix::termios::isatty(rustix::stdio::stdout());
    if !one_shot {
        return Err(Error::usage("the interactive chat is not built yet").hint("agent -p \"what to do\" does one task"));
    }
    let loaded = config::load(env, flags)?;
    for notice in &loaded.notices {
        out.talk(&format!("! {}", notice.text));
    }
    let choice = choose(&loaded, env)?;
    let session = match (&task.session, task.resume) {
        (Some(wanted), _) => Which::Open(Selector::parse(wanted, &env.cwd)),
        (None, true) => Which::Open(Selector::Newest),
        (None, false) if task.no_session => Which::Unkept,
        (None, false) => Which::New,
    };
    let assembled = app::headless(Parts { loaded: &loaded, choice, env, clock, session })?;
    one_shot::run(assembled, &Asked::new(task.prompt.clone(), reading), style, out)
}

fn sessions(action: &SessionsAction, env: &Env, clock: Clock, out: &mut Out<'_>) -> Result<u8, Error> {
    let store = Store::new(&Paths::new(env).data_dir, clock);
    out.both(|stdout, _| {
        match action {
            SessionsAction::List { all, json } => {
                let scope = if *all { Scope::All } else { Scope::Here };
                command::sessions::list(&store, &env.cwd, scope, form(*json), stdout)?;
            }
            SessionsAction::Show { id, json } => {
                let selector = Selector::parse(id, &env.cwd);
                command::sessions::show(&store, &selector, &env.cwd, form(*json), stdout)?;
            }
        }
        Ok(0)
    })
}

fn config_action(action: ConfigAction) -> Action {
    match action {
        ConfigAction::Show { key, json } => Action::Show { key, form: form(json) },
        ConfigAction::Path => Action::Path,
        ConfigAction::Init => Action::Init,
        ConfigAction::Get { key, json } => Action::Get { key, form: form(json) },
        ConfigAction::Set { key, value } => Action::Set { key, value },
    }
}

/// The working directory that was asked for.
fn enter(env: &Env, folder: &Path) -> Result<std::path::PathBuf, Error> {
    let folder = env.absolute(folder);
    let entered = folder.canonicalize().and_then(|found| found.read_dir().map(|_| found));
    entered.map_err(|error| Error::usage(format!("cannot work in {}", folder.display())).caused_by(error))
}

fn talk(cli: &Cli) -> Talk {
    match (cli.task.output.quiet, cli.task.output.verbose) {
        (true, _) => Talk::Quiet,
        (false, true) => Talk::Verbose,
        (false, false) => Talk::Usual,
    }
}

fn format(format: OutputFormat) -> Format {
    match format {
        OutputFormat::Text => Format::Text,
        OutputFormat::Json => Format::Json,
        OutputFormat::StreamJson => Format::StreamJson,
    }
}

fn form(json: bool) -> Form {
    if json { Form::Json } else { Form::Text }
}
