//! `execute_bash`: a shell line, run by `product::sandbox`, and its end told so that a model can act on it.
//!
//! It judges no command; whether one may run was decided before.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde::Deserialize;
use serde_json::json;

use super::arguments;
use super::job::{self, answer};
use super::save::words;
use crate::base::env::Env;
use crate::base::json::Object;
use crate::base::text::mask::Mask;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::job::{Jobs, Keeping, Kind, Order};
use crate::product::sandbox::Process;
use crate::product::sandbox::capture::Capture;
use crate::product::sandbox::env::CommandEnv;
use crate::product::sandbox::process::{self, Called, Ending, Finished, Patience};
use crate::product::sandbox::start::{CommandLine, Started};

/// What reaches the model unless it is configured: a test report of some length, a small part of any window.
pub const LIMITS: Limits = Limits { chars: 30_000, lines: 256 };

/// The tool's name.
pub const NAME: &str = "execute_bash";

/// A command that took longer than this is told so: for shorter ones it says nothing, and it makes equal results differ.
const TELL_DURATION: Duration = Duration::from_secs(10);

/// How many processes left running are named.
const NAMED_PROCESSES: usize = 5;

/// What is needed to run shell lines.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Where commands start, absolute.
    pub cwd: PathBuf,
    /// The agent's whole environment; secrets are kept back here.
    pub env: Env,
    /// `bash.env`: names or globs of secrets that commands get to see all the same.
    pub allow_env: Vec<String>,
    /// The variables of providers' keys, which only their literal name in `allow_env` lets through.
    pub key_names: Vec<String>,
    /// `bash.timeout`: for calls that name none; not above `max_timeout`.
    pub timeout: Duration,
    /// `bash.max_timeout`: the most a call may ask for.
    pub max_timeout: Duration,
    /// What reaches the model.
    pub limits: Limits,
    /// Where long outputs are kept; made when it is needed.
    pub output_dir: PathBuf,
    /// What no output shows, kept ones included.
    pub mask: Mask,
    /// What runs in the background.
    pub jobs: Jobs,
}

/// The tool.
#[derive(Debug)]
pub struct ExecuteBash {
    spec: ToolSpec,
    cwd: PathBuf,
    env: CommandEnv,
    timeout: Duration,
    max_timeout: Duration,
    output_dir: PathBuf,
    mask: Mask,
    jobs: Jobs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    /// Seconds.
    #[serde(default, deserialize_with = "arguments::number")]
    timeout: Option<f64>,
    background: Option<Kind>,
}

impl ExecuteBash {
    /// Prepares the environment of all calls.
    ///
    /// # Errors
    ///
    /// The entry of `allow_env` that is no glob, and why.
    pub fn new(shell: Shell) -> Result<Self, String> {
        let Shell { cwd, env, allow_env, key_names, timeout, max_timeout, limits, output_dir, mask, jobs } = shell;
        let env = CommandEnv::new(&env, &key_names, &allow_env)?;
        let spec = ToolSpec {
            name: NAME,
            description: include_str!("../../../assets/tools/execute_bash.md").trim_ascii_end(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "timeout": {"type": "number", "description": format!(
                        "seconds; default {}, at most {}", seconds(timeout), seconds(max_timeout),
                    )},
                    "background": {"type": "string", "enum": ["job", "service"], "description":
                        "returns at once; a job ends with the agent, a service stays"},
                },
                "required": ["command"],
            }),
            risk: Risk::Dangerous,
            limits,
        };
        Ok(Self { spec, cwd, env, timeout, max_timeout, output_dir, mask, jobs })
    }

    /// The names of the variables that are kept from commands, sorted.
    pub fn withheld(&self) -> &[String] {
        self.env.withheld()
    }

    fn parse(arguments: &Object) -> Result<Arguments, String> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if arguments.command.trim().is_empty() {
            return Err("`command` is empty".to_owned());
        }
        if arguments.command.contains('\0') {
            return Err(
                "`command` holds a NUL character, which no shell takes; write it as \\0 inside quotes".to_owned()
            );
        }
        if arguments.timeout.is_some_and(|timeout| timeout.is_nan() || timeout <= 0.0) {
            return Err("`timeout` must be a number of seconds above 0".to_owned());
        }
        Ok(arguments)
    }

    fn ended(&self, finished: &Finished, capture: Capture, timeout: Duration) -> Output {
        let status = self.status(finished.ending, timeout);
        let outcome = capture.finish(&status);
        let (full_output, not_kept) = match outcome.full_output {
            Ok(path) => (path, None),
            Err(error) => (None, Some(words(&error))),
        };
        let tell = finished.took > TELL_DURATION && finished.ending != Ending::TimedOut;
        let took = tell.then(|| format!("took {:.1} s", finished.took.as_secs_f64()));
        let left = (!finished.running.is_empty()).then(|| still_running(&finished.running));
        let footer: Vec<String> = left.into_iter().chain(took).chain([status]).collect();
        Output {
            text: outcome.text,
            footer: Some(footer.join("\n")),
            images: Vec::new(),
            is_error: finished.ending != Ending::Exited(0),
            full_output,
            not_kept,
            fingerprint: Some(outcome.fingerprint),
            change: None,
            appendix: None,
            ledger: None,
        }
    }

    /// Gives a command away that goes on without its call.
    fn left(&self, started: Started, line: &CommandLine<'_>, capture: Capture) -> Output {
        let (footer, is_error) = match self.jobs.adopt(started, line, &self.keeping()) {
            Ok(id) => (job::moved(&id), false),
            Err(error) => (format!("the user sent it to the background, but it was ended: {error}"), true),
        };
        let outcome = capture.finish(job::MOVED);
        Output {
            text: outcome.text,
            footer: Some(footer),
            is_error,
            full_output: outcome.full_output.unwrap_or_default(),
            fingerprint: Some(outcome.fingerprint),
            ..Output::default()
        }
    }

    fn keeping(&self) -> Keeping<'_> {
        Keeping { limits: self.spec.limits, output_dir: &self.output_dir, mask: &self.mask }
    }

    /// The last line of the result.
    fn status(&self, ending: Ending, timeout: Duration) -> String {
        match ending {
            Ending::Exited(code) => format!("exit code: {code}"),
            Ending::Signalled(number) => format!("killed by signal {number}{}", signal_name(number)),
            Ending::Interrupted => "interrupted: the command and all it started were ended".to_owned(),
            Ending::TimedOut if timeout < self.max_timeout => format!(
                "timed out after {} s; raise the `timeout` parameter (at most {}) for longer commands",
                seconds(timeout),
                seconds(self.max_timeout)
            ),
            Ending::TimedOut => format!(
                "timed out after {} s, the most that the `timeout` parameter allows; start longer work with \
                 `background`, or with `nohup COMMAND > FILE 2>&1 &`",
                seconds(timeout)
            ),
        }
    }
}

impl Tool for ExecuteBash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        Self::parse(arguments).map(|arguments| Subject::Command(arguments.command))
    }

    /// Cancelled, it takes up to two seconds longer than other tools where a process ignores the request to end.
    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        let arguments = match Self::parse(arguments) {
            Ok(arguments) => arguments,
            Err(complaint) => return Output::error(complaint),
        };
        let line = CommandLine { command: &arguments.command, cwd: &self.cwd, env: &self.env };
        if let Some(kind) = arguments.background {
            let order = Order { line, kind, keeping: self.keeping() };
            return match self.jobs.start(&order, context.cancel) {
                Ok(look) => answer::started(look),
                Err(error) => Output::error(error.to_string()),
            };
        }
        let asked = arguments.timeout.map_or(self.timeout, |asked| {
            // Too large for a duration is too large for us as well.
            Duration::try_from_secs_f64(asked).unwrap_or(Duration::MAX)
        });
        let timeout = asked.min(self.max_timeout);
        let mut capture = Capture::new(self.spec.limits, &self.output_dir, self.mask.clone());
        let waiting = self.jobs.waiting();
        let patience = Patience { timeout, cancel: context.cancel, leave: waiting.leave() };
        match process::run(&line, patience, &mut capture, context.progress) {
            Ok(Called::Finished(finished)) => self.ended(&finished, capture, timeout),
            Ok(Called::Left(started)) => self.left(started, &line, capture),
            Err(error) => Output::error(error.to_string()),
        }
    }
}

/// Tells what runs on.
pub(super) fn still_running(processes: &[Process]) -> String {
    let named: Vec<String> =
        processes.iter().take(NAMED_PROCESSES).map(|process| format!("{} {}", process.pid, process.name)).collect();
    let (noun, verb) = if processes.len() == 1 { ("process", "is") } else { ("processes", "are") };
    let more = match processes.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} {noun} {verb} still running: {}{more}", processes.len(), named.join(", "))
}

/// Seconds without a needless point: `2`, `0.5`.
fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// The usual name of a signal, in parentheses after a blank; nothing for rare ones.
fn signal_name(number: i32) -> String {
    const NAMES: [(Signal, &str); 15] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
    ];
    let known = NAMES.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map_or_else(String::new, |(_, name)| format!(" ({name})"))
}
