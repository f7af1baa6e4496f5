//! Results as text: `path:line: text` for matches, `path-line- text` for what is near them.

use super::found::{FileHits, LineKind, Results};
use crate::base::text::numbers::count;
use crate::kernel::tool::Limits;
use crate::product::tool::workspace::Workspace;

/// The text of an answer and the line that ends it.
pub struct Rendered {
    /// Lines of results, within the limits.
    pub text: String,
    /// How much this is of what there is.
    pub summary: String,
}

/// Writes results until the limits are reached; the end is cut rather than the middle, because results are sorted.
pub fn lines(workspace: &Workspace, results: &Results, limits: Limits) -> Rendered {
    let mut page = Page { text: String::new(), chars: 0, lines: 0, limits };
    let (mut matches, mut files) = (0, 0);
    let mut is_cut = false;
    for (path, hits) in &results.files {
        let path = workspace.shown(path);
        let shown = page.file(&path, hits);
        matches += shown;
        files += usize::from(shown > 0);
        is_cut = shown < hits.matches;
        if is_cut {
            break;
        }
    }
    let numbers = format!("{} in {}", count(matches as u64, "match"), count(files as u64, "file"));
    let summary = if is_cut || results.more {
        format!("the first {numbers}, by path; there are more: narrow path, glob or pattern")
    } else {
        numbers
    };
    Rendered { text: page.text, summary }
}

struct Page {
    text: String,
    chars: usize,
    lines: usize,
    limits: Limits,
}

impl Page {
    /// Writes a file's lines and returns how many matches there was room for.
    fn file(&mut self, path: &str, hits: &FileHits) -> usize {
        let has_context = hits.lines.iter().any(|line| line.kind == LineKind::Context);
        if has_context && !self.text.is_empty() && !self.push("--") {
            return 0;
        }
        let mut matches = 0;
        for line in &hits.lines {
            let number = line.number;
            let written = match line.kind {
                LineKind::Match | LineKind::Rest => format!("{path}:{number}: {}", line.text),
                LineKind::Context => format!("{path}-{number}- {}", line.text),
                LineKind::Gap => "--".to_owned(),
            };
            if !self.push(&written) {
                break;
            }
            matches += usize::from(line.kind == LineKind::Match);
        }
        matches
    }

    /// Writes a line if there is room. There always is for the first.
    fn push(&mut self, line: &str) -> bool {
        let chars = line.chars().count() + usize::from(!self.text.is_empty());
        let has_room = self.chars + chars <= self.limits.chars && self.lines < self.limits.lines;
        if !has_room && !self.text.is_empty() {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.chars += chars;
        self.lines += 1;
        true
    }
}
