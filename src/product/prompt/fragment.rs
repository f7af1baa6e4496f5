//! The fragments of the system prompt, in the order in which they are read, each with its cap and the tools it needs.
//!
//! A fragment names no tool that its `needs` do not ask for.

/// A piece of the system prompt.
pub(super) struct Fragment {
    /// Markdown, ending with a line break; a new section begins with `# `.
    pub(super) text: &'static str,
    /// Which tools must be on offer.
    pub(super) needs: Needs,
}

/// The tools without which a fragment would be out of place.
pub(super) enum Needs {
    /// None: it is always there.
    Nothing,
    /// Any tool at all.
    Tools,
    /// That no tool is offered.
    NoTools,
    /// All of these.
    All(&'static [&'static str]),
    /// Some tool, and no other than these.
    Only(&'static [&'static str]),
}

impl Needs {
    pub(super) fn are_met(&self, offered: &[&str]) -> bool {
        match self {
            Self::Nothing => true,
            Self::Tools => !offered.is_empty(),
            Self::NoTools => offered.is_empty(),
            Self::All(names) => names.iter().all(|name| offered.contains(name)),
            Self::Only(names) => !offered.is_empty() && offered.iter().all(|name| names.contains(name)),
        }
    }
}

/// A fragment of at most `cap` bytes; a longer one does not compile.
const fn fragment(cap: usize, needs: Needs, text: &'static str) -> Fragment {
    assert!(text.len() <= cap, "a fragment of the system prompt is longer than its cap");
    Fragment { text, needs }
}

/// What only looks. Of a tool that is not listed, one of a server say, nobody knows.
const READERS: &[&str] =
    &["read_file", "list_files", "find_files", "search_files", "load_skill", "update_plan", "ask_user"];

/// What makes the shell the wrong tool for files.
const FILE_TOOLS: &[&str] = &["execute_bash", "read_file", "edit_file"];

/// All there is for a model with a small window. It names no tool.
pub(super) const LEAN: Fragment = fragment(900, Needs::Nothing, include_str!("../../../assets/prompts/lean.md"));

/// All of them, in reading order: who, how to work, with which tools, within which limits, how to answer.
pub(super) const FRAGMENTS: &[Fragment] = &[
    fragment(180, Needs::Nothing, include_str!("../../../assets/prompts/identity.md")),
    fragment(100, Needs::NoTools, include_str!("../../../assets/prompts/no_tools.md")),
    fragment(750, Needs::Tools, include_str!("../../../assets/prompts/work.md")),
    fragment(140, Needs::All(&["execute_bash"]), include_str!("../../../assets/prompts/verify.md")),
    fragment(100, Needs::Only(READERS), include_str!("../../../assets/prompts/read_only.md")),
    fragment(240, Needs::Tools, include_str!("../../../assets/prompts/calls.md")),
    fragment(90, Needs::All(&["search_files"]), include_str!("../../../assets/prompts/search.md")),
    fragment(80, Needs::All(&["read_file", "edit_file"]), include_str!("../../../assets/prompts/read.md")),
    fragment(120, Needs::All(&["edit_file"]), include_str!("../../../assets/prompts/edit.md")),
    fragment(90, Needs::All(&["write_file", "edit_file"]), include_str!("../../../assets/prompts/write.md")),
    fragment(130, Needs::All(&["edit_file", "execute_bash"]), include_str!("../../../assets/prompts/edit_then_run.md")),
    fragment(400, Needs::All(&["execute_bash"]), include_str!("../../../assets/prompts/shell.md")),
    fragment(90, Needs::All(FILE_TOOLS), include_str!("../../../assets/prompts/file_tools.md")),
    fragment(450, Needs::Nothing, include_str!("../../../assets/prompts/safety.md")),
    fragment(470, Needs::Nothing, include_str!("../../../assets/prompts/answer.md")),
];
