//! The command line: what may be written there.
//!
//! Declarations only; reading a line is in [`read`], and nothing is done here.

pub mod command;
pub mod read;

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use crate::product::auth::secret::Secret;
use command::Command;

const USAGE: &str = "\
agent [OPTIONS] [PROMPT]     chat; PROMPT is the first message
       agent -p [OPTIONS] \"task\"   do one task, print the answer, exit
       agent COMMAND";

const AFTER_HELP: &str = "\
Examples:
  agent                              chat about the code in this folder; /help lists its commands
  agent -c                           go on with the newest session of this folder
  agent -p \"why does make fail?\"     do one task, print the answer
  git diff | agent -p \"review this\"  work on what another program prints
  agent demo                         see a task done: no key, no network

Keys come from the provider's variable, such as ANTHROPIC_API_KEY, or `agent auth login anthropic`.
`agent doctor` says what was found, `agent config show` what holds and why.

Exit codes:
  0 done   1 failed   2 usage or configuration   3 denied, as nobody could be asked
  4 provider or key   5 a limit   130 interrupted   143 terminated";

/// A coding agent for the terminal.
#[derive(Debug, Parser)]
#[command(name = "agent", version, override_usage = USAGE, after_help = AFTER_HELP)]
pub struct Cli {
    /// What a run is to do and how.
    #[command(flatten)]
    pub task: Task,
    /// Something else than a task.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The same line where no word is a command.
#[derive(Debug, Parser)]
#[command(name = "agent", version)]
struct TaskOnly {
    #[command(flatten)]
    task: Task,
}

/// A task and its options.
#[derive(Clone, Debug, Default, Args)]
pub struct Task {
    /// The task, or the first message; with -p a last word `-` reads more of it from standard input
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,

    /// Do the task, print the answer, and exit; without a terminal that is what is done anyway
    #[arg(short, long, help_heading = "Task")]
    pub print: bool,
    /// Go on with the newest session of this folder
    #[arg(short = 'c', long = "continue", help_heading = "Task", conflicts_with_all = ["session", "no_session"])]
    pub resume: bool,
    /// Go on with this session; the beginning of an id is enough
    #[arg(long, value_name = "ID|PATH", help_heading = "Task", conflicts_with = "no_session")]
    pub session: Option<String>,
    /// Begin a copy of this session, which stays as it is
    #[arg(long, value_name = "ID|PATH", help_heading = "Task", conflicts_with_all = ["resume", "session", "no_session"])]
    pub fork: Option<String>,
    /// Copy only up to this message, by its number in `agent sessions show --json`
    #[arg(long, value_name = "ENTRY", help_heading = "Task", requires = "fork")]
    pub at: Option<u64>,
    /// Run this chain: a task in several steps; `agent chains` lists them
    #[arg(long, value_name = "NAME|FILE", help_heading = "Task")]
    pub chain: Option<String>,
    /// Begin the chain at this step, with what an earlier run of it came to in the session
    #[arg(long, value_name = "STEP", help_heading = "Task", requires = "chain")]
    pub from: Option<String>,
    /// Go on until this shell command succeeds, or a limit is reached; what it prints is told
    #[arg(long, value_name = "CMD", help_heading = "Task", conflicts_with_all = ["chain", "plan"])]
    pub until: Option<String>,
    /// Keep no record of the session
    #[arg(long, help_heading = "Task")]
    pub no_session: bool,
    /// Whether to read standard input: auto, wait, none [default: auto]
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Task")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub stdin: Stdin,
    /// Send this picture along; may be given more than once, and @FILE in the text does the same
    #[arg(long, value_name = "FILE", help_heading = "Task")]
    pub image: Vec<PathBuf>,
    /// Work in this folder
    #[arg(short = 'C', long, value_name = "DIR", help_heading = "Task", global = true)]
    pub cwd: Option<PathBuf>,

    /// Options of the model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// Options of limits and rights.
    #[command(flatten)]
    pub rights: RightsOptions,
    /// Options of the output.
    #[command(flatten)]
    pub output: OutputOptions,

    /// Read this file in place of the user's config.json
    #[arg(long, value_name = "FILE", help_heading = "Configuration", global = true)]
    pub config: Option<PathBuf>,
    /// Let this project's own settings in, for this run; see `agent trust`
    #[arg(long, help_heading = "Configuration", global = true)]
    pub trust_project: bool,
}

/// Who answers, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// Who answers: anthropic, openai, gemini, ollama, …, or one of your own
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model's id, or provider/id
    #[arg(short, long, value_name = "ID")]
    pub model: Option<String>,
    /// A key for this run; others can see it in ps, so prefer VIOLA_API_KEY
    #[arg(long, value_name = "KEY", value_parser = secret)]
    pub api_key: Option<Secret>,
    /// The provider's address
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// From 0 to 2
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Tokens an answer may have at most
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_tokens: Option<u64>,
    /// How much to reason: off, minimal, low, medium, high
    #[arg(long, value_name = "HOW")]
    pub reasoning_effort: Option<String>,
    /// In place of the built-in system prompt; @FILE reads it from there
    #[arg(long, value_name = "TEXT")]
    pub system_prompt: Option<String>,
    /// After the system prompt; @FILE reads it from there
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,
}

/// What the task may take, and what the model may do.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits and rights")]
pub struct RightsOptions {
    /// Model calls of one task, and of each step and sub-agent; 0 is no limit [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_turns: Option<u64>,
    /// How long one task may take
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// What one task may cost
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// Offer these tools alone: names, globs, or `lean`: read, write, edit and bash in few words, for small windows
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// Offer all but these
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub exclude_tools: Option<Vec<String>>,
    /// What runs unasked: all, write, safe, none; or ask at every call
    #[arg(long, value_name = "MODE")]
    pub permissions: Option<String>,
    /// Run everything unasked; also --dangerously-skip-permissions
    #[arg(long, alias = "dangerously-skip-permissions", conflicts_with = "permissions")]
    pub yolo: bool,
    /// Only look, and end in a plan: nothing is written, no command runs
    #[arg(long)]
    pub plan: bool,
    /// Confine commands: off, read-only, workspace (not built yet)
    #[arg(long, value_name = "MODE")]
    pub sandbox: Option<String>,
}

/// What is written, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// text, json (one object), stream-json (an event a line) [default: text]
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub output_format: OutputFormat,
    /// No progress on standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more on standard error
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Whether the chat, and progress on standard error, have colours: auto, always, never [default: auto]
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub color: Color,
}

/// Whether to read standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Stdin {
    /// A file to its end, a pipe if it is not silent
    #[default]
    Auto,
    /// Always, however long it takes
    Wait,
    /// Never
    None,
}

/// What standard output carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The answer
    #[default]
    Text,
    /// One object, the result
    Json,
    /// Every event, an object a line
    StreamJson,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that has them, unless NO_COLOR is set
    #[default]
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

/// A type that shows itself to nobody, from the first moment on.
fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

#[cfg(test)]
#[path = "cli/tests.rs"]
mod tests;
