//! The plan: one line while it fits, else a list; and in the live region never more rows than there is room for.
//!
//! It shows what `update_plan` was given, and keeps nothing.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::row::{columns, fitted, plain, room, trimmed};
use super::{Block, Look};
use crate::base::json::Object;
use crate::base::text::{numbers, width};

/// Between two steps on one line.
const GAP: &str = "   ";
/// Columns before the title, and before a step of a list.
const INDENT: (&str, &str) = ("  ", "    ");

/// What the agent means to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

/// One step of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    text: String,
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Completed,
    InProgress,
    Pending,
}

impl Plan {
    /// The plan in the arguments of `update_plan`; `None` where there is none.
    pub fn of(arguments: &Object) -> Option<Self> {
        let steps: Vec<Step> = arguments.get("steps")?.as_array()?.iter().filter_map(Step::of).collect();
        (!steps.is_empty()).then_some(Self { steps })
    }

    /// Whether everything in it is done.
    pub fn is_done(&self) -> bool {
        self.steps.iter().all(|step| step.status == Status::Completed)
    }

    /// Whether it is the plan that `earlier` was: its steps are all there, whatever has become of them.
    pub fn goes_on(&self, earlier: &Self) -> bool {
        earlier.steps.iter().all(|step| self.steps.iter().any(|own| own.text == step.text))
    }

    /// The plan as finished text.
    pub fn lines(&self, look: &Look) -> Block {
        let line = self.line(look);
        if columns(&line) <= look.edge() {
            return vec![trimmed(line)];
        }
        let mut block = vec![trimmed(title(look))];
        block.extend(self.steps.iter().map(|step| trimmed(vec![Span::raw(INDENT.1), step.span(look)])));
        block
    }

    /// The plan in at most `most` rows, none wider than the screen. Where it has no room, the step under way stands for
    /// all of it.
    pub fn rows(&self, most: usize, look: &Look) -> Vec<Line<'static>> {
        let lines = self.lines(look);
        if lines.len() <= most {
            return lines.into_iter().map(|line| fitted(line, look)).collect();
        }
        if most == 0 {
            return Vec::new();
        }
        let done = self.steps.iter().filter(|step| step.status == Status::Completed).count();
        let fact = format!("{done} of {}", numbers::grouped(self.steps.len() as u64));
        let now = self.steps.iter().find(|step| step.status == Status::InProgress);
        let next = || self.steps.iter().find(|step| step.status == Status::Pending);
        let mut line = title(look);
        if let Some(step) = now.or_else(next).or(self.steps.last()) {
            line.push(Span::raw(INDENT.0));
            let left = room(columns(&line), &fact, look);
            let span = step.span(look);
            line.push(Span::styled(width::cut(&span.content, left, look.glyphs.ellipsis), span.style));
        }
        line.push(Span::raw(INDENT.0));
        line.push(Span::styled(fact, look.theme.dim));
        vec![fitted(Line::from(line), look)]
    }

    fn line(&self, look: &Look) -> Vec<Span<'static>> {
        let mut line = title(look);
        line.push(Span::raw("  "));
        for (number, step) in self.steps.iter().enumerate() {
            line.extend((number > 0).then(|| Span::raw(GAP)));
            line.push(step.span(look));
        }
        line
    }
}

fn title(look: &Look) -> Vec<Span<'static>> {
    vec![Span::raw(INDENT.0), Span::styled("plan", look.theme.verb)]
}

impl Step {
    fn of(step: &Value) -> Option<Self> {
        let text = plain(step.get("text")?.as_str()?.trim());
        let status = match step.get("status").and_then(Value::as_str) {
            Some("completed") => Status::Completed,
            Some("in_progress") => Status::InProgress,
            Some(_) | None => Status::Pending,
        };
        (width::width(&text) > 0).then_some(Self { text, status })
    }

    fn span(&self, look: &Look) -> Span<'static> {
        let [done, current, open] = look.glyphs.steps;
        let (mark, style) = match self.status {
            Status::Completed => (done, look.theme.dim),
            Status::InProgress => (current, look.theme.person),
            Status::Pending => (open, Style::new()),
        };
        Span::styled(format!("{mark} {}", self.text), style)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::front::repl::view::testing::{assert_live, look, object, picture};
    use crate::front::repl::view::theme::Glyphs;

    fn plan(steps: &[(&str, &str)]) -> Plan {
        let steps: Vec<_> = steps.iter().map(|(text, status)| json!({"text": text, "status": status})).collect();
        Plan::of(&object(json!({"steps": steps}))).unwrap()
    }

    fn three() -> Plan {
        plan(&[("find the crash", "completed"), ("fix divide", "in_progress"), ("add a test", "pending")])
    }

    #[test]
    fn it_is_a_line_then_a_list_then_the_step_under_way() {
        let ascii = Look { glyphs: Glyphs::ASCII, ..look(80) };
        let rows = [
            three().rows(9, &look(80)),
            three().rows(9, &ascii),
            three().rows(4, &look(40)),
            three().rows(2, &look(40)),
        ];
        insta::assert_snapshot!(picture(&rows.concat()), @"
        |  plan  ☑ find the crash   ▸ fix divide   ☐ add a test
        |  plan  [x] find the crash   [>] fix divide   [ ] add a test
        |  plan
        |    ☑ find the crash
        |    ▸ fix divide
        |    ☐ add a test
        |  plan  ▸ fix divide  1 of 3
        ");
        assert_eq!(three().rows(0, &look(40)), []);
    }

    #[test]
    fn a_plan_goes_on_while_its_steps_stay() {
        let begun = plan(&[("a", "pending"), ("b", "pending")]);
        assert!(plan(&[("a", "completed"), ("c", "pending"), ("b", "in_progress")]).goes_on(&begun));
        assert!(!plan(&[("a", "completed")]).goes_on(&begun));
        assert!(plan(&[("a", "completed")]).is_done() && !three().is_done());
        let none = |steps| Plan::of(&object(json!({"steps": steps})));
        assert_eq!((none(json!([])), none(json!("x")), none(json!([{"text": " "}]))), (None, None, None));
    }

    #[test]
    fn it_fits_whatever_the_screen() {
        let long = plan(&[("a step \u{1b}[2J of many words 日本語日本語日本語日本語 that go on", "pending"); 20]);
        for columns in 0..60 {
            for most in [0, 1, 3, 30] {
                let rows = long.rows(most, &look(columns));
                assert!(rows.len() <= most);
                assert_live(&rows, columns);
            }
        }
    }
}
