//! From a command line to an exit code: which part of the program it is for.
//!
//! Like `cli`, this stands above the layers; it decides nothing that a front end or the product could decide.

mod knowledge;
mod sessions;

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::file_size;
use crate::base::panic;
use crate::base::text::mask::Mask;
use crate::cli::command::{AuthAction, Command, ConfigAction, UndoArgs};
use crate::cli::read::{Parsed, asked_format, command as declaration, parse};
use crate::cli::{Cli, Color, OutputFormat, Stdin, Task};
use crate::front::command::config::Action;
use crate::front::command::undo::Consent;
use crate::front::command::{self, Form};
use crate::front::out::{Colour, Out};
use crate::front::print::one_shot::{Asked, Goal};
use crate::front::print::{Format, Printer, Style, Talk, demo, one_shot};
use crate::front::repl::{self, run::Chat};
use crate::front::stdin::Reading;
use crate::front::stop::Stop;
use crate::front::term::caps::{Caps, Grade};
use crate::front::wire;
use crate::kernel::event::Event;
use crate::product::agent::attach;
use crate::product::agent::report::{Interruption, Report};
use crate::product::app::{self, Parts, Which};
use crate::product::checkpoint::plan::{Direction, What};
use crate::product::config::paths::Paths;
use crate::product::config::{self, Flags};
use crate::product::error::Error;
use crate::product::job::Jobs;
use crate::product::journal::Journal;
use crate::product::provider::choose::choose;
use crate::product::provider::{Servers, listing};
use crate::product::session::store::Selector;
use crate::product::tool::workspace::Workspace;

/// Runs the program and returns its exit code. `words` begin with its own name.
pub fn run(words: Vec<OsString>, out: &mut Out<'_>, stop: &Stop) -> u8 {
    // Until the line has been read: what it seems to ask for.
    let mut format = format(asked_format(&words));
    let journal = Journal::default();
    let witness = journal.clone();
    panic::watch(move |place| witness.panicked(place));
    let ended = panic::caught(|| dispatch(words, Env::real(), &mut format, out, stop, &journal));
    let ended = ended.unwrap_or_else(|defect| {
        Err(Error::failed(format!("internal error: {defect}")).hint("this is a defect of the program"))
    });
    let code = ended.unwrap_or_else(|error| failed(&error, format, stop.interruption(), out));
    out.close();
    journal.end(code);
    code
}

/// Tells an error, and in the JSON formats a `result`: also a task that never began, or broke, has one.
fn failed(error: &Error, format: Format, interruption: Option<Interruption>, out: &mut Out<'_>) -> u8 {
    let report = interruption.map_or_else(|| Report::never_began(error), Report::stopped_early);
    if let (Format::StreamJson, Some(failure)) = (format, &report.failure) {
        let _ = out.data(&wire::failure(failure));
    }
    if format != Format::Text {
        // Where that fails, there is the error and the code.
        let _ = out.data(&wire::result(&report, "none"));
    }
    out.error(error);
    report.exit_code
}

/// Does what the words ask for. `told` becomes the format of the task; where there is no task it becomes text.
fn dispatch(
    words: Vec<OsString>,
    mut env: Env,
    told: &mut Format,
    out: &mut Out<'_>,
    stop: &Stop,
    journal: &Journal,
) -> Result<u8, Error> {
    let cli = match parse(words)? {
        Parsed::Run(cli) => *cli,
        Parsed::Show(text) => {
            out.data(text.as_bytes())?;
            return out.settle().map(|_| 0);
        }
    };
    let no_signals = |error| Error::failed("signals cannot be caught").caused_by(error);
    file_size::survive_limit().map_err(no_signals)?;
    *told = match &cli.command {
        None => format(cli.task.output.output_format),
        Some(Command::Demo { output_format, .. }) => format(*output_format),
        Some(_) => Format::Text,
    };
    // The others have nothing to undo, and end at once as any program does.
    let hears = match &cli.command {
        None | Some(Command::Demo { .. } | Command::Auth { action: AuthAction::Login { .. } }) => true,
        Some(_) => false,
    };
    if hears {
        stop.listen()?;
    }
    out.set_terminal(rustix::termios::isatty(rustix::stdio::stdout()));
    out.set_colour(colour(cli.task.output.color).holds(&env, rustix::termios::isatty(rustix::stdio::stderr())));
    match &cli.task.cwd {
        Some(cwd) => env.cwd = enter(&env, cwd)?,
        None if env.cwd.as_os_str().is_empty() => {
            return Err(Error::usage("the working directory is gone").hint("-C names another one"));
        }
        None => {}
    }
    let flags = cli.task.flags();
    let clock = Clock::System;
    let style = Style { format: *told, talk: talk(&cli) };
    match cli.command {
        None => task(&cli.task, &flags, &env, clock, stop, &mut Printer::new(out, style), journal),
        Some(Command::Demo { keep, .. }) => {
            show_demo(keep.as_deref(), colour(cli.task.output.color), style, &env, clock, stop, out)
        }
        Some(Command::Undo(args)) => undo(Direction::Undo, args, &cli.task, &env, clock, out),
        Some(Command::Redo(args)) => undo(Direction::Redo, args, &cli.task, &env, clock, out),
        Some(Command::Sessions { action }) => sessions::run(action, &flags, &env, clock, out),
        Some(Command::Trust { dir }) => {
            let mut input = BufReader::new(io::stdin());
            out.both(|stdout, _| command::trust::run(dir.as_deref(), &env, &flags, clock, &mut input, stdout))
        }
        Some(Command::Models { pattern, all, json }) => {
            let loaded = config::load(&env, &flags)?;
            let scope = if all { listing::Scope::All } else { listing::Scope::Usable };
            models(&listing::listing(&loaded, &env, Servers::Asked, scope), &pattern, form(json), out)
        }
        Some(Command::Skills { json }) => knowledge::skills(form(json), &env, &flags, out),
        Some(Command::Chains { json }) => knowledge::chains(form(json), &env, &flags, out),
        Some(Command::Jobs { action, json }) => knowledge::jobs(action, form(json), &env, out),
        Some(Command::Config { action: ConfigAction::Show { rules: true, json, .. } }) => {
            knowledge::rules(form(json), &env, &flags, out)
        }
        Some(Command::Config { action }) => {
            out.both(|stdout, stderr| command::config::run(&config_action(action), &env, &flags, stdout, stderr))
        }
        Some(Command::Tools { json }) => tools(json, &env, &flags, out),
        Some(Command::Auth { action }) => {
            let mut ask = |question: &str| command::auth::from_person(question, stop);
            out.both(|stdout, stderr| {
                command::auth::run(&auth_action(action), &env, &flags, stop, &mut ask, stdout, stderr)
            })
        }
        Some(Command::Doctor { prune, json }) => doctor(prune, form(json), &env, &flags, stop, out),
        Some(Command::Completions { shell }) => {
            out.both(|stdout, _| command::completions::run(shell, declaration(), stdout))
        }
    }
}

/// Plays the demo in the chat where there is a screen for it, else as a one-shot task.
fn show_demo(
    keep: Option<&Path>,
    colour: Colour,
    style: Style,
    env: &Env,
    clock: Clock,
    stop: &Stop,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let has_screen = style.format == Format::Text && on_terminal() && Caps::of(env, colour).grade != Grade::Dumb;
    if has_screen {
        repl::demo::run(keep, colour, env, clock, stop, out)
    } else {
        demo::run(keep, style, env, clock, stop, out)
    }
}

/// Looks at everything, or removes what nobody needs.
fn doctor(prune: bool, form: Form, env: &Env, flags: &Flags, stop: &Stop, out: &mut Out<'_>) -> Result<u8, Error> {
    out.both(|stdout, stderr| match prune {
        true => command::doctor::storage::prune(&Paths::new(env).data_dir, Clock::System, form, stdout),
        false => {
            let terminal = command::doctor::Terminal::real();
            command::doctor::run(env, flags, terminal, form, stop.cancel(), stdout, stderr)
        }
    })
}

fn tools(json: bool, env: &Env, flags: &Flags, out: &mut Out<'_>) -> Result<u8, Error> {
    let loaded = config::load(env, flags)?;
    let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &[]).map_err(Error::usage)?;
    let tools = app::toolbox(&loaded, env, &Arc::new(workspace), &Arc::default(), &Mask::default())?;
    out.both(|stdout, _| command::tools::run(&tools, form(json), stdout))
}

fn models(found: &listing::Listing, pattern: &[String], form: Form, out: &mut Out<'_>) -> Result<u8, Error> {
    let pattern = Some(pattern.join(" ")).filter(|pattern| !pattern.trim().is_empty());
    out.both(|stdout, stderr| command::models::run(found, pattern.as_deref(), form, stdout, stderr))
}

/// A task on the command line.
fn task(
    task: &Task,
    flags: &Flags,
    env: &Env,
    clock: Clock,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
    journal: &Journal,
) -> Result<u8, Error> {
    let journal = journal.clone();
    let reading = match task.stdin {
        Stdin::Auto => Reading::Auto,
        Stdin::Wait => Reading::Wait,
        Stdin::None => Reading::Never,
    };
    let one_shot = task.print || !on_terminal();
    let loaded = config::load(env, flags)?;
    if let Some(named) = &task.chain {
        let around = knowledge::Around { loaded: &loaded, env, clock, journal };
        return knowledge::chain(named, task, reading, around, stop, printer);
    }
    let pictures = match task.image.as_slice() {
        [] => Vec::new(),
        files => {
            let (files, workspace) = (files.to_vec(), app::workspace(&loaded, env)?);
            let read = stop.cancel().unless_thrown(move || attach::pictures(&files, &workspace));
            read.unwrap_or_else(|| Err(Error::failed("interrupted while pictures were read")))?
        }
    };
    let session = session(task, env);
    if !one_shot {
        let first = Some(task.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
        let colour = colour(task.output.color);
        let (env, flags) = (env.clone(), flags.clone());
        let is_dumb = Caps::of(&env, colour).grade == Grade::Dumb;
        let (until, plan) = (task.until.clone(), task.rights.plan);
        let chat =
            Chat { loaded, flags, env, clock, session, first, pictures, colour, performs: false, journal, until, plan };
        return if is_dumb { repl::plain::run(chat, stop) } else { repl::run::run(chat, stop) };
    }
    let mut asked = Asked { pictures, ..Asked::new(task.prompt.clone(), reading) };
    let loaded = knowledge::expand(&mut asked, loaded, env, flags)?;
    for notice in &loaded.notices {
        printer.event(&Event::Notice(notice.clone()));
    }
    let choice = choose(&loaded, env, stop.cancel())?;
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    let mode = mode(task);
    let assembled = app::headless(Parts { loaded: &loaded, choice, env, clock, session, journal, mode, jobs })?;
    let goal = task.until.clone().map_or(Goal::Answer, Goal::Check);
    one_shot::run(assembled, &asked, &goal, stop, printer)
}

/// Takes back or restores; a person on a terminal is asked first.
fn undo(
    direction: Direction,
    args: UndoArgs,
    task: &Task,
    env: &Env,
    clock: Clock,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let UndoArgs { files, chat, dry_run, yes, id } = args;
    let what = match (files, chat) {
        (true, false) => What::Files,
        (false, true) => What::Chat,
        (true, true) | (false, false) => What::Both,
    };
    let consent = match (dry_run, yes || !on_terminal()) {
        (true, _) => Consent::Withheld,
        (false, true) => Consent::Given,
        (false, false) => Consent::Asked,
    };
    let wanted = command::undo::Wanted {
        direction,
        what,
        selector: id.map_or(Selector::Newest, |id| Selector::parse(&id, &env.cwd)),
        consent,
        is_coloured: colour(task.output.color).holds(env, rustix::termios::isatty(rustix::stdio::stdout())),
    };
    let data_dir = Paths::new(env).data_dir;
    let mut input = BufReader::new(io::stdin());
    out.both(|stdout, _| command::undo::run(&wanted, &data_dir, env, clock, &mut input, stdout))
}

/// What a task is for.
fn mode(task: &Task) -> app::plan::Mode {
    if task.rights.plan { app::plan::Mode::Plan } else { app::plan::Mode::Work }
}

/// The session that a task belongs to.
fn session(task: &Task, env: &Env) -> Which {
    match (&task.fork, &task.session, task.resume) {
        (Some(other), _, _) => Which::Fork { of: Selector::parse(other, &env.cwd), at: task.at },
        (None, Some(wanted), _) => Which::Open(Selector::parse(wanted, &env.cwd)),
        (None, None, true) => Which::Open(Selector::Newest),
        (None, None, false) if task.no_session => Which::Unkept,
        (None, None, false) => Which::New,
    }
}

fn config_action(action: ConfigAction) -> Action {
    match action {
        ConfigAction::Show { key, json, rules: _ } => Action::Show { key, form: form(json) },
        ConfigAction::Path => Action::Path,
        ConfigAction::Init => Action::Init,
        ConfigAction::Get { key, json } => Action::Get { key, form: form(json) },
        ConfigAction::Set { key, value } => Action::Set { key, value },
    }
}

fn auth_action(action: AuthAction) -> command::auth::Action {
    use command::auth::{Action, Check};
    match action {
        AuthAction::Login { name, no_check } => {
            Action::Login { name, check: if no_check { Check::Nobody } else { Check::Server } }
        }
        AuthAction::Logout { name } => Action::Logout { name },
        AuthAction::List { json } => Action::List { form: form(json) },
    }
}

/// Whether there is somebody to talk to.
fn on_terminal() -> bool {
    rustix::termios::isatty(rustix::stdio::stdin()) && rustix::termios::isatty(rustix::stdio::stdout())
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

fn colour(color: Color) -> Colour {
    match color {
        Color::Auto => Colour::Auto,
        Color::Always => Colour::Always,
        Color::Never => Colour::Never,
    }
}

fn form(json: bool) -> Form {
    if json { Form::Json } else { Form::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_began_or_broke_has_a_result_where_one_is_asked_for() {
        let told = |format, interruption| {
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let code = failed(
                &Error::usage("it broke").hint("mend it"),
                format,
                interruption,
                &mut Out::new(&mut stdout, &mut stderr),
            );
            assert_eq!(String::from_utf8(stderr).unwrap(), "error: it broke\nhint: mend it\n");
            (code, String::from_utf8(stdout).unwrap())
        };
        assert_eq!(told(Format::Text, None), (2, String::new()));
        for format in [Format::Json, Format::StreamJson] {
            let (code, result) = told(format, None);
            assert!(code == 2 && result.contains(r#""stop_reason":"error","exit_code":2"#), "{result}");
            let (code, result) = told(format, Some(Interruption::Terminate));
            assert!(code == 143 && result.contains(r#""aborted":true"#) && result.lines().count() == 1, "{result}");
        }
    }
}
