//! The commands of the chat: one table with name, arguments, help and action; and what a draft is: a command, a shell
//! line, or something to say.
//!
//! Decides what was meant, carries nothing out, and knows nothing of the screen.

use std::fmt::Write as _;

use crate::base::text::width::width;
use crate::base::text::{cut, likeness, visible};

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Slash {
    /// What is typed after the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub arguments: Arguments,
    /// What it does, in a few words.
    pub help: &'static str,
    /// What is to be done.
    pub action: Action,
}

/// What may follow a command's name. Nothing has to: without an argument a command shows what there is to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Nothing.
    None,
    /// Any text.
    Text {
        /// What it is, for the help.
        hint: &'static str,
    },
    /// One of these words.
    Words {
        /// What they are, for the help.
        hint: &'static str,
        /// All of them, in lower case.
        words: &'static [&'static str],
    },
    /// The id of a session, or its beginning.
    Sessions,
    /// The name of a theme; a user may have some of their own.
    Themes,
    /// The id of a model.
    Models,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Show the commands and the keys.
    Help,
    /// List the tools on offer.
    Tools,
    /// Show or change what may be done without asking.
    Permissions,
    /// Begin a new session.
    New,
    /// Go on with an earlier session.
    Resume,
    /// List the sessions of this directory.
    Sessions,
    /// Look at all branches of the session, and go on from anywhere in it.
    Tree,
    /// Go on in a copy of the session.
    Fork,
    /// Give the session a name.
    Name,
    /// Put a note on the last answer.
    Label,
    /// Take back what the last turn did.
    Undo,
    /// Restore what was taken back.
    Redo,
    /// Write the conversation to a file.
    Export,
    /// Choose who answers.
    Model,
    /// Show what the model is sent, and what takes how much.
    Context,
    /// Have the beginning of the conversation summarised.
    Compact,
    /// Show tokens and money.
    Cost,
    /// Copy the last answer's source.
    Copy,
    /// Show settings and where they come from.
    Config,
    /// Choose the colours.
    Theme,
    /// List the keys.
    Keys,
    /// Look for what does not work.
    Doctor,
    /// Clear the screen.
    Clear,
    /// Show or change how hard the model thinks.
    Effort,
    /// Only plan from here on, or work again.
    Plan,
    /// Have instructions for this project written.
    Init,
    /// Show the instructions that are sent, and why.
    Rules,
    /// List the skills.
    Skills,
    /// List the chains.
    Chains,
    /// Run a chain.
    Chain,
    /// List the sub-agents of this session.
    Agents,
    /// List jobs and services, or stop one.
    Jobs,
    /// Keep something for later sessions.
    Remember,
    /// Open what is remembered.
    Memory,
    /// Leave.
    Exit,
}

/// All commands, in the order in which the help shows them.
pub const COMMANDS: &[Slash] = &[
    command("help", Arguments::None, "commands and keys", Action::Help),
    command("new", Arguments::None, "begin a new session", Action::New),
    command("resume", Arguments::Sessions, "go on with an earlier session", Action::Resume),
    command("sessions", Arguments::None, "list the sessions of this directory", Action::Sessions),
    command("tree", ENTRY, "all branches; go on from anywhere", Action::Tree),
    command("fork", ENTRY, "go on in a copy of this session", Action::Fork),
    command("name", Arguments::Text { hint: "text" }, "give this session a name", Action::Name),
    command("label", Arguments::Text { hint: "text" }, "put a label on the last answer", Action::Label),
    command("undo", WHAT, "take back the last turn: files, conversation", Action::Undo),
    command("redo", WHAT, "restore what was taken back", Action::Redo),
    command("export", Arguments::Text { hint: "file" }, "write the conversation to a file", Action::Export),
    command("model", Arguments::Models, "choose who answers", Action::Model),
    command("effort", EFFORT, "how hard the model thinks", Action::Effort),
    command("permissions", GRANT, "what is done without asking", Action::Permissions),
    command("plan", Arguments::None, "only look and plan, or work again", Action::Plan),
    command("tools", Arguments::None, "tools the model can call", Action::Tools),
    command("context", CONTEXT, "what the model is sent, and what takes how much", Action::Context),
    command("compact", COMPACT, "summarise the beginning of the conversation", Action::Compact),
    command("rules", Arguments::None, "instructions that are sent, and why", Action::Rules),
    command("init", Arguments::Text { hint: "wishes" }, "write instructions for this project", Action::Init),
    command("remember", Arguments::Text { hint: "text" }, "keep something for later sessions", Action::Remember),
    command("memory", WHOSE, "open what is remembered", Action::Memory),
    command("skills", Arguments::None, "what /skill:NAME can load", Action::Skills),
    command("chains", Arguments::None, "what /chain can run", Action::Chains),
    command("chain", Arguments::Text { hint: "name task" }, "run a chain", Action::Chain),
    command("agents", Arguments::None, "sub-agents of this session", Action::Agents),
    command("jobs", Arguments::Text { hint: "stop id" }, "jobs and services; stop one", Action::Jobs),
    command("cost", Arguments::None, "tokens and money: last turn, session, today", Action::Cost),
    command("copy", Arguments::None, "copy the last answer as it was written", Action::Copy),
    command("clear", Arguments::None, "clear the screen; the conversation goes on", Action::Clear),
    command("config", Arguments::Text { hint: "key" }, "settings and where they come from", Action::Config),
    command("theme", Arguments::Themes, "choose the colours", Action::Theme),
    command("keys", Arguments::None, "all keys", Action::Keys),
    command("doctor", Arguments::None, "what does not work, and the fix", Action::Doctor),
    Slash { aliases: &["quit", "q", "выход"], ..command("exit", Arguments::None, "leave", Action::Exit) },
];

/// The values of `reasoning_effort`.
const EFFORT: Arguments = Arguments::Words { hint: "level", words: &["off", "minimal", "low", "medium", "high"] };
/// What a session's grant can be, and asking for each call.
const GRANT: Arguments = Arguments::Words { hint: "mode", words: &["all", "write", "safe", "none", "ask"] };
/// What the summary is to heed.
const COMPACT: Arguments = Arguments::Text { hint: "instructions" };
/// A message, by its number in the tree.
const ENTRY: Arguments = Arguments::Text { hint: "id" };
/// What is taken back or restored.
const WHAT: Arguments = Arguments::Words { hint: "what", words: &["both", "files", "chat"] };
/// Whose memory is opened.
const WHOSE: Arguments = Arguments::Words { hint: "whose", words: &["project", "user"] };
/// The whole request, word for word.
const CONTEXT: Arguments = Arguments::Words { hint: "all", words: &["all"] };
/// How much of what somebody typed an error repeats.
const ECHO_CHARS: usize = 40;

const fn command(name: &'static str, arguments: Arguments, help: &'static str, action: Action) -> Slash {
    Slash { name, aliases: &[], arguments, help, action }
}

/// What a draft is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// Something to say to the agent, or nothing at all.
    Say,
    /// A command and its argument, which is empty where there is none.
    Command(&'static Slash, &'a str),
    /// A command with an argument it does not take: an error of one line.
    Wrong(String),
    /// No command, though it looks like one.
    Unknown {
        /// What stands after the slash.
        name: &'a str,
        /// What it may have meant.
        suggestion: Option<&'static Slash>,
    },
    /// A line for the shell.
    Shell(Shell<'a>),
}

/// A line for the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shell<'a> {
    /// What is to be run; not blank.
    pub line: &'a str,
    /// Whether the model gets to see it: `!` shares, `!!` does not.
    pub share: bool,
}

/// What a draft of which the first `typed` bytes were typed, and not pasted, means.
///
/// A command begins with a slash, and its first word was typed and has no second slash: `/usr/bin/x crashes`, `//` and
/// `/ is full` are things to say. A shell line begins with a typed `!`; the rest may be pasted.
pub fn classify(text: &str, typed: usize) -> Meaning<'_> {
    if typed == 0 {
        return Meaning::Say;
    }
    if let Some(rest) = text.strip_prefix('!') {
        let (line, share) = rest.strip_prefix('!').map_or((rest, true), |line| (line, false));
        let line = line.trim();
        return if line.is_empty() { Meaning::Say } else { Meaning::Shell(Shell { line, share }) };
    }
    if is_exit_under_another_layout(text) {
        return find("exit").map_or(Meaning::Say, |exit| Meaning::Command(exit, ""));
    }
    let Some((name, argument)) = split(text).filter(|(name, _)| name.len() < typed) else {
        return Meaning::Say;
    };
    match find(name) {
        Some(command) => command.accept(argument),
        None if name.is_empty() && !argument.is_empty() => Meaning::Say,
        None => Meaning::Unknown { name, suggestion: suggestion(name) },
    }
}

/// The name and the argument of a text that begins like a command; both may be empty.
pub fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!name.contains('/')).then(|| (name, argument.trim()))
}

/// The command with that name, in either case, also where its keys were pressed under a Russian layout.
pub fn find(name: &str) -> Option<&'static Slash> {
    let lower = name.to_lowercase();
    let named = |name: &str| COMMANDS.iter().find(|command| command.names().any(|known| known == name));
    named(&lower).or_else(|| named(&latin(&lower)?))
}

impl Slash {
    /// Its name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// How it is written: `/effort [off|minimal|low|medium|high]`.
    pub fn usage(&self) -> String {
        let argument = match self.arguments {
            Arguments::None => return format!("/{}", self.name),
            Arguments::Text { hint } => hint.to_owned(),
            Arguments::Words { words, .. } => words.join("|"),
            Arguments::Sessions => "id".to_owned(),
            Arguments::Themes => "name".to_owned(),
            Arguments::Models => "id".to_owned(),
        };
        format!("/{} [{argument}]", self.name)
    }

    fn accept<'a>(&'static self, argument: &'a str) -> Meaning<'a> {
        let name = self.name;
        let echo = || visible::line(&cut::ellipsis(argument, ECHO_CHARS)).into_owned();
        match self.arguments {
            Arguments::None if argument.is_empty() => Meaning::Command(self, argument),
            Arguments::None => Meaning::Wrong(format!("/{name} takes no argument; send /{name} without `{}`", echo())),
            Arguments::Words { words, .. } => {
                let lower = argument.to_lowercase();
                match words.iter().find(|word| **word == lower) {
                    Some(word) => Meaning::Command(self, word),
                    None if argument.is_empty() => Meaning::Command(self, argument),
                    None => {
                        let meant = likeness::closest(&lower, words.iter().copied());
                        let meant = meant.map_or_else(String::new, |word| format!("did you mean {word}? "));
                        Meaning::Wrong(format!("/{name}: no `{}`; {meant}one of {}", echo(), words.join(", ")))
                    }
                }
            }
            Arguments::Text { .. } | Arguments::Sessions | Arguments::Themes | Arguments::Models => {
                Meaning::Command(self, argument)
            }
        }
    }
}

/// What to tell somebody who typed a command that is none: one line.
pub fn unknown(name: &str, suggestion: Option<&Slash>) -> String {
    if name.is_empty() {
        return "/ begins a command; /help lists them".to_owned();
    }
    let meant = suggestion.map_or_else(String::new, |command| format!("did you mean /{}? ", command.name));
    let name = visible::line(&cut::ellipsis(name, ECHO_CHARS)).into_owned();
    format!("unknown command /{name}; {meant}/help lists them, a space before it sends it as text")
}

/// The lines of `/help`: the commands, then `keys`, each with what it does.
pub fn help(keys: &[(&str, &str)]) -> Vec<String> {
    let commands: Vec<_> = COMMANDS.iter().map(|command| (brief(command), command.help)).collect();
    let commands = commands.iter().map(|(usage, help)| (usage.as_str(), *help));
    let mut lines = aligned(commands);
    lines.extend(aligned([
        ("!command", "run a shell line and show it to the model"),
        ("!!command", "run it unseen"),
        ("@path", "attach a file"),
    ]));
    if !keys.is_empty() {
        lines.push(String::new());
        lines.extend(aligned(keys.iter().copied()));
    }
    lines
}

/// The usage, with words that can be chosen by what they are.
fn brief(command: &Slash) -> String {
    match command.arguments {
        Arguments::Words { hint, .. } => format!("/{} [{hint}]", command.name),
        Arguments::None | Arguments::Text { .. } | Arguments::Sessions | Arguments::Themes | Arguments::Models => {
            command.usage()
        }
    }
}

/// Columns of the left side of the help: the longest brief usage, and of the usual keys.
const LEFT: usize = 21;

fn aligned<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let row = |(left, right): (&str, &str)| {
        let mut line = left.to_owned();
        let _ = write!(line, "{:1$}{right}", "", LEFT.saturating_sub(width(left)).max(2));
        line
    };
    rows.into_iter().map(row).collect()
}

/// The command that is spelt most like it.
fn suggestion(name: &str) -> Option<&'static Slash> {
    let lower = name.to_lowercase();
    let latin = latin(&lower).unwrap_or_default();
    let names = || COMMANDS.iter().flat_map(Slash::names);
    let begun = || names().find(|known| name.chars().nth(1).is_some() && known.starts_with(&lower));
    let closest =
        begun().or_else(|| likeness::closest(&lower, names())).or_else(|| likeness::closest(&latin, names()))?;
    find(closest)
}

/// `/exit`, `/quit` and `/q`, all of whose keys were pressed under a Russian layout: there the slash is a full stop.
fn is_exit_under_another_layout(text: &str) -> bool {
    text.trim_end()
        .strip_prefix('.')
        .and_then(latin)
        .and_then(|name| find(&name))
        .is_some_and(|command| command.action == Action::Exit)
}

/// The Latin letters on the keys that write `word` under the layout ЙЦУКЕН; `None` where a letter is not Russian.
fn latin(word: &str) -> Option<String> {
    const RUSSIAN: &str = "йцукенгшщзфывапролдячсмить";
    const LATIN: &str = "qwertyuiopasdfghjklzxcvbnm";
    let letter = |letter| RUSSIAN.chars().position(|known| known == letter).and_then(|at| LATIN.chars().nth(at));
    word.to_lowercase().chars().map(letter).collect()
}

#[cfg(test)]
mod tests;
