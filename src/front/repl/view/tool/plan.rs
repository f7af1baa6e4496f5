//! The plan: one line while it fits, else a list.
//!
//! It shows what `update_plan` was given, and keeps nothing.

use ratatui::style::Style;
use ratatui::text::Span;
use serde_json::Value;

use crate::base::json::Object;
use crate::base::text::width;
use crate::front::repl::view::row::{columns, plain, trimmed};
use crate::front::repl::view::{Block, Look};

/// Between two steps on one line.
const GAP: &str = "   ";

/// The plan in the arguments of `update_plan`; `None` where there is none.
pub(super) fn lines(arguments: &Object, look: &Look) -> Option<Block> {
    let steps = arguments.get("steps")?.as_array()?;
    let steps: Vec<Span<'static>> = steps.iter().filter_map(|step| span(step, look)).collect();
    if steps.is_empty() {
        return None;
    }
    let title = || vec![Span::raw("  "), Span::styled("plan", look.theme.verb)];
    let mut line = title();
    line.push(Span::raw("  "));
    for (number, step) in steps.iter().enumerate() {
        line.extend((number > 0).then(|| Span::raw(GAP)));
        line.push(step.clone());
    }
    if columns(&line) <= look.edge() {
        return Some(vec![trimmed(line)]);
    }
    let mut block = vec![trimmed(title())];
    block.extend(steps.into_iter().map(|step| trimmed(vec![Span::raw("    "), step])));
    Some(block)
}

fn span(step: &Value, look: &Look) -> Option<Span<'static>> {
    let text = plain(step.get("text")?.as_str()?.trim());
    let [done, current, open] = look.glyphs.steps;
    let (mark, style) = match step.get("status").and_then(Value::as_str) {
        Some("completed") => (done, look.theme.dim),
        Some("in_progress") => (current, look.theme.person),
        _ => (open, Style::new()),
    };
    (width::width(&text) > 0).then(|| Span::styled(format!("{mark} {text}"), style))
}
