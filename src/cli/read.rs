//! Reading a command line: which words are commands, what options mean for the settings, and how complaints are worded.
//!
//! Prints nothing.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use serde_json::{Value, json};

use super::{Cli, ModelOptions, OutputFormat, RightsOptions, Task, TaskOnly};
use crate::base::text::likeness::closest;
use crate::product::config::{Flag, Flags, ProjectTrust};
use crate::product::error::Error;

/// What came of reading a command line.
#[derive(Debug)]
pub enum Parsed {
    /// Something to do.
    Run(Box<Cli>),
    /// A text to print on standard output, and nothing else to do: help, version.
    Show(String),
}

/// Reads a command line; the first word is the program's name.
///
/// # Errors
///
/// Usage: one line saying what is wrong, and hints.
pub fn parse(words: Vec<OsString>) -> Result<Parsed, Error> {
    // With -p, -c, --session, --fork and --chain no word is a command.
    let is_task = asks_for_task(&words);
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if !is_task && RESERVED.contains(&first) {
        return Err(not_built(first));
    }
    if let (true, "undo" | "redo", [_, _, option, ..]) = (is_task, first, words.as_slice())
        && option.to_str().is_some_and(|option| option == "--session" || option.starts_with("--session="))
    {
        // Nobody means to pay a model for it.
        return Err(Error::usage("with --session no word is a command")
            .hint(format!("`agent {first} ID` does it in that session")));
    }
    let read = if is_task {
        TaskOnly::try_parse_from(words).map(|TaskOnly { task }| Cli { task, command: None })
    } else {
        command().try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches))
    };
    match read {
        Ok(cli) => match (&cli.command, cli.task.prompt.as_slice()) {
            (None, [word, ..]) if !cli.task.is_certain() && RESERVED.contains(&word.as_str()) => Err(not_built(word)),
            (None, [word]) if !cli.task.is_certain() => mistyped(word).map_or(Ok(Parsed::Run(Box::new(cli))), Err),
            (Some(_) | None, _) => Ok(Parsed::Run(Box::new(cli))),
        },
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(incomplete(&error)),
        Err(error) if is_task && error.kind() == ErrorKind::DisplayHelp => {
            Ok(Parsed::Show(command().render_help().to_string()))
        }
        // What clap would print on standard output is what was asked for.
        Err(error) if !error.use_stderr() => Ok(Parsed::Show(error.render().to_string())),
        Err(error) => Err(usage(&error)),
    }
}

/// The output format that a line seems to ask for, whatever else may be wrong with it.
pub fn asked_format(words: &[OsString]) -> OutputFormat {
    const OPTION: &str = "--output-format";
    let mut words = words.iter().skip(1).take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let mut asked = None;
    while let Some(word) = words.next() {
        asked = match word.strip_prefix(OPTION) {
            Some("") => words.next().or(asked),
            Some(value) => value.strip_prefix('=').or(asked),
            None => asked,
        };
    }
    asked.and_then(|value| OutputFormat::from_str(value, false).ok()).unwrap_or_default()
}

/// The declaration itself, for completions.
pub fn command() -> clap::Command {
    Cli::command()
}

impl Task {
    /// What it sets: the sixth layer of the configuration.
    pub fn flags(&self) -> Flags {
        let Self {
            prompt: _,
            print: _,
            resume: _,
            session: _,
            fork: _,
            at: _,
            chain: _,
            from: _,
            until: _,
            no_session: _,
            stdin: _,
            cwd: _,
            output: _,
            model,
            rights,
            config,
            trust_project,
            image: _,
        } = self;
        let mut flags = Flags {
            values: Vec::new(),
            api_key: model.api_key.clone(),
            config_file: config.clone(),
            project: if *trust_project { ProjectTrust::ThisRun } else { ProjectTrust::AsRecorded },
        };
        model.add_to(&mut flags.values);
        rights.add_to(&mut flags.values);
        flags
    }

    /// Whether it is a task beyond doubt.
    fn is_certain(&self) -> bool {
        self.print || self.resume || self.session.is_some() || self.fork.is_some() || self.chain.is_some()
    }
}

impl ModelOptions {
    fn add_to(&self, flags: &mut Vec<Flag>) {
        let Self {
            provider,
            model,
            api_key: _,
            base_url,
            temperature,
            max_tokens,
            reasoning_effort,
            system_prompt,
            append_system_prompt,
        } = self;
        flags.extend(
            [
                flag("--provider", "provider", provider.as_ref()),
                flag("--model", "model", model.as_ref()),
                flag("--base-url", "base_url", base_url.as_ref()),
                flag("--temperature", "temperature", *temperature),
                flag("--max-tokens", "max_tokens", *max_tokens),
                flag("--reasoning-effort", "reasoning_effort", reasoning_effort.as_ref()),
                flag("--system-prompt", "system_prompt", system_prompt.as_ref()),
                flag("--append-system-prompt", "append_system_prompt", append_system_prompt.as_ref()),
            ]
            .into_iter()
            .flatten(),
        );
    }
}

impl RightsOptions {
    fn add_to(&self, flags: &mut Vec<Flag>) {
        let Self { max_turns, timeout, max_cost, tools, exclude_tools, permissions, yolo, sandbox, plan: _ } = self;
        flags.extend(
            [
                flag("--max-turns", "max_turns", *max_turns),
                flag("--timeout", "timeout", *timeout),
                flag("--max-cost", "max_cost", *max_cost),
                flag("--tools", "tools.enabled", tools.as_ref()),
                flag("--exclude-tools", "tools.disabled", exclude_tools.as_ref()),
                flag("--permissions", "permissions.mode", permissions.as_ref()),
                flag("--yolo", "permissions.mode", yolo.then_some("all")),
                flag("--sandbox", "sandbox.mode", sandbox.as_ref()),
            ]
            .into_iter()
            .flatten(),
        );
    }
}

fn flag(option: &'static str, key: &'static str, value: Option<impl serde::Serialize>) -> Option<Flag> {
    value.map(|value| Flag { option, key, value: whole(json!(value)) })
}

/// `77.0` as `77`, as a file would have it.
fn whole(value: Value) -> Value {
    /// Every whole number up to here has a spelling of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_f64() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        Some(number) if value.is_f64() && number.fract() == 0.0 && (0.0..EXACT).contains(&number) => {
            json!(number as u64)
        }
        _ => value,
    }
}

/// Whether a line has -p, -c, --session, --fork or --chain, before clap knows which words are commands.
fn asks_for_task(words: &[OsString]) -> bool {
    /// Short options without a value; what follows one with a value in the same word is that value.
    const SWITCHES: &str = "pcqv";
    let words = words.iter().skip(1).take_while(|word| *word != "--");
    words.filter_map(|word| word.to_str()).any(|word| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            matches!(long, "-print" | "-continue") || matches!(name, "-session" | "-fork" | "-chain")
        }
        Some(cluster) => cluster.chars().take_while(|c| SWITCHES.contains(*c)).any(|c| matches!(c, 'p' | 'c')),
        None => false,
    })
}

/// Commands that a later version brings: their names are never sent to a model as a task.
const RESERVED: [&str; 8] = ["serve", "acp", "plugins", "mcp", "mcp-serve", "batch", "permissions", "init"];

fn not_built(word: &str) -> Error {
    Error::usage(format!("`agent {word}` is not built yet"))
        .hint(format!("to send it to the model, write `agent -p \"{word} …\"`"))
}

/// A command that wants another word.
fn incomplete(error: &clap::Error) -> Error {
    let help = error.render().to_string();
    let usage = help.lines().find_map(|line| line.trim().strip_prefix("Usage: ")).unwrap_or("agent COMMAND");
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    Error::usage(format!("a word is missing: {usage}")).hint(format!("it is one of: {}", names.join(", ")))
}

/// A single word that is nearly a command is a typing error, not a task worth paying for.
fn mistyped(word: &str) -> Option<Error> {
    if word.contains(char::is_whitespace) {
        return None;
    }
    let command = command();
    let names: Vec<&str> =
        command.get_subcommands().map(clap::Command::get_name).chain(["help"]).chain(RESERVED).collect();
    let meant = closest(word, names.iter().copied()).filter(|meant| *meant != word)?;
    Some(
        Error::usage(format!("`{word}` is no command"))
            .hint(format!("did you mean `agent {meant}`?"))
            .hint(format!("to send it to the model, write `agent -p {word}`")),
    )
}

/// clap's complaint as one line, its tips as hints.
fn usage(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let mut hints = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")) {
        // A list of what is missing belongs to the message.
        match (line.strip_prefix("tip: "), message.ends_with(':')) {
            (Some(tip), _) => hints.push(tip.to_owned()),
            (None, true) => message = format!("{message} {line}"),
            (None, false) => hints.push(line.trim_start_matches('[').trim_end_matches(']').to_owned()),
        }
    }
    let mut usage = Error::usage(message);
    usage.hints = hints;
    usage.hint("`agent --help` lists commands and options")
}
