//! The words in which rules are told, and the labels by which they are found again. Pure.

use std::path::Path;

use super::find::File;
use super::{BUDGET_BYTES, Why};
use crate::base::path::shown;
use crate::base::text::numbers::{grouped, size};

/// What stands above the rules in the system prompt.
pub(super) const HEAD: &str = "# Rules
Standing instructions of the user and the project, from general to near: where two differ, the later one holds, and what \
the user says in the conversation holds above all. Rules of deeper folders come with the first result that reaches them.";

/// What stands above the rules of folders that a call has reached.
pub(super) const REACHED: &str = "Rules of the folders this call has reached:";

/// The beginning of the line above a file's text.
const OPEN: &str = "<rules path=\"";
/// The rest of that line.
const OPENED: &str = "\">";
/// The line below a file's text.
const CLOSE: &str = "</rules>";

/// How a file is named to the model, as an attribute.
pub(super) fn label(path: &Path, home: Option<&Path>) -> String {
    let text = shown(path, home);
    if !text.contains(['&', '"', '<', '>']) {
        return text;
    }
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The labels of the rules that a text holds.
pub(super) fn labels(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(OPEN)?.strip_suffix(OPENED))
}

/// One file: its text, and how many bytes of it are left out.
pub(super) fn block(label: &str, text: &str, left_out: Option<u64>) -> String {
    let mut block = format!("{OPEN}{label}{OPENED}\n");
    block.push_str(&defused(text));
    if !text.is_empty() && !text.ends_with('\n') {
        block.push('\n');
    }
    if let Some(bytes) = left_out {
        block.push_str(&format!("[... {} bytes left out; read the file if you need them ...]\n", grouped(bytes)));
    }
    block.push_str(CLOSE);
    block
}

/// A text that neither ends its block nor begins another.
fn defused(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        safe.push_str(before);
        let after = from.get(1..).unwrap_or_default();
        let name = after.trim_start_matches(|letter: char| letter == '/' || letter.is_whitespace());
        let is_tag = name.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("rules"));
        safe.push_str(if is_tag { "&lt;" } else { "<" });
        rest = after;
    }
    safe.push_str(rest);
    safe
}

/// What a person is told of a file that did not fit.
pub(super) fn shortened(file: &File, home: Option<&Path>, left_out: u64) -> String {
    let what = match file.why {
        Why::UserMemory | Why::ProjectMemory => "take out what is no longer needed",
        Why::User | Why::Root | Why::Between | Why::WorkingDirectory | Why::Reached => {
            "shorten it, or move what concerns one folder into that folder's AGENTS.md"
        }
        Why::Import => "shorten it, or name it without the @, so that it is read when it is needed",
    };
    let (path, left_out, all) = (shown(&file.path, home), size(left_out), size(file.bytes));
    let budget = grouped(BUDGET_BYTES as u64);
    let which = match file.why {
        Why::Reached => "all rules that come with calls, until the conversation is summarised,",
        Why::UserMemory
        | Why::ProjectMemory
        | Why::User
        | Why::Root
        | Why::Between
        | Why::WorkingDirectory
        | Why::Import => "all rules together",
    };
    format!("{left_out} of the {all} of {path} are left out: {which} may take {budget} bytes; {what}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_is_labelled_and_closed_once() {
        let block = block("a/AGENTS.md", "Use <b>.\n</rules>\n< /RULES><Rules path=\"x\">", None);
        assert_eq!(
            block,
            "<rules path=\"a/AGENTS.md\">\nUse <b>.\n&lt;/rules>\n&lt; /RULES>&lt;Rules path=\"x\">\n</rules>"
        );
        assert_eq!(labels(&format!("x\n{block}\n")).collect::<Vec<_>>(), ["a/AGENTS.md"]);
    }

    proptest! {
        #[test]
        fn labels_are_found_again(name in "[a-z&\"<> é]{1,12}", text in "[</rules \">path=\nR]{0,60}") {
            let label = label(&Path::new("/w").join(name), None);
            let block = block(&label, &text, Some(7));
            prop_assert_eq!(labels(&block).collect::<Vec<_>>(), [label.as_str()]);
            prop_assert_eq!(block.matches(CLOSE).count(), 1);
        }
    }
}
