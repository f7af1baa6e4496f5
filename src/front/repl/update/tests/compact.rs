//! `/compact`: what it asks for, and what is known afterwards.

use std::time::Duration;

use super::{acts, idle, none, working};
use crate::front::repl::key::Code;
use crate::front::repl::message::{Finished, Msg, News};
use crate::front::repl::view::testing::text;
use crate::kernel::effect::{End, Outcome};
use crate::kernel::event::{Context, Event, Notice, NoticeCode};
use crate::model::usage::Usage;

#[test]
fn a_summary_is_a_task_that_can_be_stopped_and_tells_what_is_left() {
    let mut chat = idle();
    assert_eq!(acts(&chat.line("/compact keep the names")), [r#"compact Some("keep the names")"#]);
    assert_eq!(acts(&chat.line("and what I say meanwhile")), ["steer 1 and what I say meanwhile"]);
    chat.key(Code::Esc);
    assert!(chat.state.task.as_ref().is_some_and(|task| task.stopped.is_some()));
    chat.over(End::Cancelled);
    assert_eq!(chat.draft(), "and what I say meanwhile", "it is given back");

    let mut chat = idle();
    assert_eq!(acts(&chat.line("/compact")), ["compact None"]);
    chat.event(Event::Notice(Notice::new(NoticeCode::Compaction, "from about 170,000 to 9,000 tokens")));
    let outcome = Outcome {
        text: String::new(),
        turns: 0,
        end: End::Answered,
        usage: Usage::default(),
        cost: None,
        denied: vec![],
    };
    let context = Some(Context { tokens: 9_000, window: Some(200_000) });
    chat.msg(Msg::News(News::Finished(Box::new(Finished { outcome, duration: Duration::from_secs(3), context }))));
    assert!(text(&chat.printed).contains("from about 170,000 to 9,000 tokens"));
    assert!(chat.state.task.is_none() && chat.shows().contains("4 % of 200k"), "{}", chat.shows());
}

#[test]
fn nothing_is_summarised_while_something_runs() {
    let mut chat = working();
    assert_eq!(acts(&chat.line("/compact")), none());
    assert!(text(&chat.printed).contains("Something still runs"));
}
