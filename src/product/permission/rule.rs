//! One permission rule: `tool`, or `tool(pattern)`.
//!
//! Shell lines are not parsed here. A rule that forbids therefore looks at every place where a command could begin, and a
//! rule that allows only at lines that are one plain command: in doubt a call is forbidden or asked about.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher};
use thiserror::Error;

use crate::kernel::port::PendingCall;
use crate::kernel::tool::{Subject, echo};

/// A rule as the user wrote it, ready to match.
#[derive(Clone, Debug)]
pub struct Rule {
    text: String,
    tool: GlobMatcher,
    pattern: Option<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// For paths: `*` stays within a folder.
    path: GlobMatcher,
    /// Of `folder/**` the folder: who lists or searches it sees what is in it.
    folder: Option<GlobMatcher>,
    /// For everything else: `*` is any text.
    text: GlobMatcher,
}

/// Why a rule cannot be used.
#[derive(Debug, Error)]
#[error("{rule:?} is no rule: {problem}; expected tool or tool(pattern), such as execute_bash(git diff *)")]
pub struct RuleError {
    rule: String,
    problem: String,
}

impl Rule {
    /// Reads a rule. Path patterns are relative to `cwd` unless absolute.
    ///
    /// # Errors
    ///
    /// When it is neither `tool` nor `tool(pattern)`, or a glob in it is broken.
    pub fn parse(text: &str, cwd: &Path) -> Result<Self, RuleError> {
        let error = |problem: String| RuleError { rule: echo(text).into_owned(), problem };
        let glob = |glob: &str, separator: bool| {
            let built = GlobBuilder::new(glob).literal_separator(separator).build();
            built.map(|glob: Glob| glob.compile_matcher()).map_err(|problem| error(problem.kind().to_string()))
        };
        let (tool, pattern) = match text.trim().split_once('(') {
            None => (text.trim(), None),
            Some((tool, rest)) => {
                let Some(pattern) = rest.strip_suffix(')') else {
                    return Err(error("a bracket is not closed".to_owned()));
                };
                (tool.trim(), Some(pattern.trim()))
            }
        };
        if tool.is_empty() || tool.contains(char::is_whitespace) {
            return Err(error("a tool's name is missing".to_owned()));
        }
        let pattern = match pattern {
            None => None,
            Some(pattern) => {
                let path = absolute(pattern, cwd);
                let folder = path.strip_suffix("/**").filter(|folder| !folder.is_empty());
                let folder = folder.map(|folder| glob(folder, true)).transpose()?;
                Some(Pattern { path: glob(&path, true)?, folder, text: glob(pattern, false)? })
            }
        };
        Ok(Self { text: text.trim().to_owned(), tool: glob(tool, false)?, pattern })
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the rule, standing under `deny` or `ask`, speaks of any part of the call.
    pub fn forbids(&self, call: &PendingCall) -> bool {
        let Some(pattern) = self.of_tool(call) else { return false };
        let Some(pattern) = pattern else { return true };
        match &call.subject {
            Subject::Command(line) => beginnings(line).iter().any(|command| pattern.is_command(command)),
            Subject::Read(paths) | Subject::Write(paths) => paths.iter().any(|path| {
                pattern.path.is_match(path) || pattern.folder.as_ref().is_some_and(|folder| folder.is_match(path))
            }),
            Subject::Url(text) => pattern.text.is_match(text),
            Subject::Task(_) | Subject::Other => pattern.text.is_match(call.summary()),
        }
    }

    /// Whether the rule, standing under `allow`, covers the whole call.
    pub fn allows(&self, call: &PendingCall) -> bool {
        let Some(pattern) = self.of_tool(call) else { return false };
        let Some(pattern) = pattern else { return true };
        match &call.subject {
            Subject::Command(line) => is_plain(line) && pattern.is_command(line.trim()),
            Subject::Read(paths) | Subject::Write(paths) => paths.iter().all(|path| pattern.path.is_match(path)),
            Subject::Url(text) => pattern.text.is_match(text),
            Subject::Task(_) | Subject::Other => pattern.text.is_match(call.summary()),
        }
    }

    /// The paths, absolute, that the rule, standing under `deny`, keeps from a tool which shows what any of `names` would
    /// show. Who is denied a path must not see it from the folder above either, which only the tool's own walk can tell.
    pub fn closes(&self, names: &[&str]) -> Option<&Glob> {
        let pattern = self.pattern.as_ref().filter(|_| names.iter().any(|name| self.tool.is_match(name)))?;
        Some(pattern.path.glob())
    }

    #[expect(clippy::option_option, reason = "whether the tool is meant, and then whether there is a pattern")]
    fn of_tool(&self, call: &PendingCall) -> Option<Option<&Pattern>> {
        self.tool.is_match(&call.call.name).then_some(self.pattern.as_ref())
    }
}

/// A path pattern made absolute; what is special in the name of the working directory stands for itself.
fn absolute(pattern: &str, cwd: &Path) -> String {
    if Path::new(pattern).is_absolute() {
        return pattern.to_owned();
    }
    format!("{}/{}", globset::escape(&cwd.display().to_string()), pattern.trim_start_matches("./"))
}

impl Pattern {
    /// `git *` also means `git` alone.
    fn is_command(&self, command: &str) -> bool {
        self.text.is_match(command) || self.text.is_match(format!("{command} "))
    }
}

/// What separates or groups commands, or starts a substitution.
const SEPARATORS: [char; 13] = [';', '&', '|', '\n', '(', ')', '{', '}', '`', '<', '>', '$', '!'];

/// Every text within the line that a command might be: it begins at any word and ends at the next separator, quotes
/// and backslashes taken away.
fn beginnings(line: &str) -> Vec<String> {
    let bare: String = line.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
    let mut found = vec![line.trim().to_owned()];
    for part in bare.split(SEPARATORS) {
        let words: Vec<&str> = part.split_whitespace().collect();
        for first in 0..words.len() {
            let rest: Vec<&str> = words.iter().skip(first).copied().collect();
            found.push(rest.join(" "));
            // `/bin/rm` is `rm`.
            if let Some(name) = rest.first().and_then(|word| word.rsplit('/').next())
                && rest.first().is_some_and(|word| word.contains('/'))
            {
                found.push([&[name], rest.get(1..).unwrap_or_default()].concat().join(" "));
            }
        }
    }
    found
}

/// Whether a line is one command without quoting, substitution, redirection or assignment.
fn is_plain(line: &str) -> bool {
    let odd = |letter: char| {
        SEPARATORS.contains(&letter) || matches!(letter, '\'' | '"' | '\\' | '#' | '~' | '*' | '?' | '[')
    };
    let first = line.split_whitespace().next().unwrap_or_default();
    !line.trim().contains(odd) && !first.is_empty() && !first.contains('=')
}
