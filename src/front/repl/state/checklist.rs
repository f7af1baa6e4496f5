//! The plan the agent keeps: it stands in the live region while work goes on, and goes to the scrollback once, as it last
//! stood, when another takes its place or the task ends.

use crate::front::repl::view::Look;
use crate::front::repl::view::plan::Plan;

use super::paper::{Kind, Paper};

/// The newest plan.
#[derive(Debug, Default)]
pub struct Checklist {
    plan: Option<Plan>,
    /// Whether it is printed as it stands.
    printed: bool,
}

impl Checklist {
    /// The agent has written its plan anew. Where nothing is `live`, a plan is printed when it is new: elsewhere it can
    /// be seen.
    pub fn set(&mut self, plan: Plan, live: bool, look: &Look, paper: &mut Paper) {
        let goes_on = self.plan.as_ref().is_some_and(|old| plan.goes_on(old));
        if live && !goes_on {
            self.settle(look, paper);
        }
        self.printed &= self.plan.as_ref() == Some(&plan);
        self.plan = Some(plan);
        if !live && !goes_on {
            self.settle(look, paper);
        }
    }

    /// Nothing more is expected of it for now.
    pub fn settle(&mut self, look: &Look, paper: &mut Paper) {
        if let Some(plan) = self.plan.as_ref().filter(|_| !self.printed) {
            paper.print(Kind::Tool, plan.lines(look));
            self.printed = true;
        }
    }

    /// The plan, while there is something left of it to be seen.
    pub fn shown(&self) -> Option<&Plan> {
        self.plan.as_ref().filter(|plan| !self.printed || !plan.is_done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::front::repl::view::testing::{look, object, text};

    fn plan(steps: &[(&str, &str)]) -> Plan {
        let steps: Vec<_> = steps.iter().map(|(text, status)| json!({"text": text, "status": status})).collect();
        Plan::of(&object(json!({"steps": steps}))).unwrap()
    }

    /// What is printed after each step.
    fn printed(live: bool, plans: &[&[(&str, &str)]]) -> Vec<String> {
        let (mut list, mut paper, look) = (Checklist::default(), Paper::default(), look(80));
        let take = |paper: &mut Paper| text(&paper.take().concat());
        let mut all: Vec<String> = plans
            .iter()
            .map(|steps| {
                list.set(plan(steps), live, &look, &mut paper);
                take(&mut paper)
            })
            .collect();
        list.settle(&look, &mut paper);
        all.push(take(&mut paper));
        list.settle(&look, &mut paper);
        assert!(paper.is_empty(), "once");
        all
    }

    #[test]
    fn a_plan_is_printed_when_another_takes_its_place_and_at_the_end() {
        let plans: [&[(&str, &str)]; 3] =
            [&[("a", "in_progress"), ("b", "pending")], &[("a", "completed"), ("b", "pending")], &[("c", "pending")]];
        assert_eq!(printed(true, &plans), ["", "", "  plan  ☑ a   ☐ b", "  plan  ☐ c"]);
        assert_eq!(printed(false, &plans), ["  plan  ▸ a   ☐ b", "", "  plan  ☐ c", ""]);
        assert_eq!(printed(true, &plans[..2]), ["", "", "  plan  ☑ a   ☐ b"]);
        assert_eq!(printed(false, &plans[..2]), ["  plan  ▸ a   ☐ b", "", "  plan  ☑ a   ☐ b"]);
    }

    #[test]
    fn what_is_done_and_printed_is_shown_no_more() {
        let (mut list, mut paper, look) = (Checklist::default(), Paper::default(), look(80));
        assert_eq!(list.shown(), None);
        list.set(plan(&[("a", "completed")]), true, &look, &mut paper);
        assert!(list.shown().is_some());
        list.settle(&look, &mut paper);
        assert_eq!(list.shown(), None);
        list.set(plan(&[("a", "completed"), ("b", "pending")]), true, &look, &mut paper);
        list.settle(&look, &mut paper);
        assert!(list.shown().is_some(), "it goes on with the next task");
    }
}
