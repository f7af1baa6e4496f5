//! Choosing who answers, how hard it thinks, and what that costs.

use std::sync::Arc;

use super::{acts, idle, none, working};
use crate::front::repl::key::Code;
use crate::front::repl::message::{Msg, News};
use crate::front::repl::models::Offered;
use crate::front::repl::state::Overlay;
use crate::front::repl::state::tests::chat::Chat;
use crate::front::repl::view::testing::text;
use crate::kernel::effect::End;
use crate::kernel::event::{Context, Event, Notice, NoticeCode};
use crate::model::ModelInfo;
use crate::model::message::Origin;
use crate::model::reply::StopReason;
use crate::model::usage::{Price, Usage};
use crate::product::error::Error;
use crate::product::session::spent::Spent;

pub fn info(provider: &str, model: &str) -> ModelInfo {
    let price = Price { input: 1.25, output: 10.0, cache_read: 0.125, cache_write: 1.25 };
    ModelInfo {
        origin: Arc::new(Origin { provider: provider.to_owned(), model: model.to_owned() }),
        label: model.to_owned(),
        window: Some(400_000),
        max_output: None,
        price: Some(price),
        reasoning: false,
        images: false,
    }
}

pub fn offered() -> Vec<Offered> {
    let unpriced = ModelInfo { window: None, price: None, ..info("ollama", "qwen3:8b") };
    let infos = [info("anthropic", "sonnet"), info("anthropic", "haiku"), info("openai", "gpt-5"), unpriced];
    infos.into_iter().map(|info| Offered { info, from: "catalogue".to_owned() }).collect()
}

fn printed(chat: &Chat) -> String {
    text(&chat.printed)
}

#[test]
fn a_model_is_chosen_from_a_list_that_is_searched() {
    let mut chat = idle();
    assert_eq!(acts(&chat.line("/model")), ["list models"]);
    chat.msg(Msg::Models(offered()));
    let shown = chat.shows();
    assert!(shown.contains("who answers") && shown.contains("in use, catalogue"), "{shown}");
    assert!(shown.contains("400k") && shown.contains("$1.25 / $10") && shown.contains("price unknown"), "{shown}");
    chat.typed("gp5");
    assert_eq!(acts(&chat.key(Code::Enter)), ["model openai/gpt-5"]);
    assert!(chat.shows().contains("sonnet-4-5, then gpt-5"), "{}", chat.shows());
    chat.msg(Msg::News(News::Switched { info: info("openai", "gpt-5"), notices: Vec::new() }));
    assert!(printed(&chat).contains("gpt-5 answers from now on (openai, 400k, $1.25 / $10)."), "{}", printed(&chat));
    assert!(!chat.shows().contains("then"), "{}", chat.shows());
    assert_eq!(chat.state.session.as_ref().unwrap().info.label, "gpt-5");
}

#[test]
fn a_list_that_comes_while_somebody_writes_takes_no_keys() {
    let mut chat = idle();
    chat.line("/model");
    chat.typed("x");
    chat.msg(Msg::Models(offered()));
    assert!(matches!(chat.state.overlay, Overlay::None));
    assert_eq!(chat.draft(), "x");
}

#[test]
fn ids_are_completed_when_the_list_comes() {
    let mut chat = idle();
    // The list is asked for once, by the first blank.
    let asked: Vec<String> = acts(&chat.typed("/model ")).into_iter().filter(|word| word == "list models").collect();
    assert_eq!(asked.len(), 1);
    chat.msg(Msg::Models(offered()));
    let shown = chat.shows();
    assert!(shown.contains("haiku") && !shown.contains("anthropic/haiku") && shown.contains("openai/gpt-5"), "{shown}");
    chat.typed("gpt");
    assert_eq!(acts(&chat.key(Code::Enter)), ["model openai/gpt-5"]);
}

#[test]
fn an_id_that_nobody_lists_is_told_at_once_and_one_with_its_provider_is_taken() {
    let mut chat = idle();
    chat.msg(Msg::Models(offered()));
    assert_eq!(acts(&chat.line("/model gtp-5")), none());
    let told = printed(&chat);
    assert!(
        told.contains("no model that can be used is called `gtp-5`") && told.contains("did you mean `gpt-5`?"),
        "{told}"
    );
    assert_eq!(acts(&chat.line("/model openai/other")), ["model openai/other"]);
    let error = Error::provider("no key for openai").hint("set one: `export OPENAI_API_KEY=…`");
    chat.msg(Msg::News(News::NotSwitched(error)));
    assert!(printed(&chat).contains("OPENAI_API_KEY") && !chat.shows().contains("then"), "{}", chat.shows());
}

#[test]
fn while_the_agent_works_another_model_answers_from_the_next_call_on() {
    let mut chat = working();
    assert_eq!(acts(&chat.line("/model openai/gpt-5")), ["change openai/gpt-5"]);
    assert!(chat.shows().contains("sonnet-4-5, then gpt-5"), "{}", chat.shows());
    chat.msg(Msg::News(News::Switched { info: info("openai", "gpt-5"), notices: Vec::new() }));
    assert!(printed(&chat).contains("gpt-5 answers from its next call on"), "{}", printed(&chat));
    // It is not asked yet.
    assert!(chat.shows().contains("sonnet-4-5, then gpt-5"), "{}", chat.shows());
    turn(&mut chat, "openai", "gpt-5");
    assert!(!chat.shows().contains("sonnet"), "{}", chat.shows());

    // A task that asks nobody any more leaves it to the next message.
    let mut chat = working();
    chat.line("/model openai/gpt-5");
    chat.msg(Msg::News(News::Switched { info: info("openai", "gpt-5"), notices: Vec::new() }));
    chat.over(End::Answered);
    assert!(chat.shows().contains("gpt-5") && !chat.shows().contains("then"), "{}", chat.shows());
}

#[test]
fn a_model_that_goes_on_where_one_failed_is_the_one_in_use() {
    let mut chat = working();
    turn(&mut chat, "openai", "gpt-5");
    chat.over(End::Answered);
    assert_eq!(chat.state.session.as_ref().unwrap().info.origin.model, "gpt-5");
    assert!(chat.shows().contains("gpt-5"), "{}", chat.shows());
}

fn turn(chat: &mut Chat, provider: &str, model: &str) {
    let origin = Arc::new(Origin { provider: provider.to_owned(), model: model.to_owned() });
    let context = Context { tokens: 90_000, window: Some(200_000) };
    chat.event(Event::TurnStarted { turn: 0, origin, label: model.to_owned(), context });
}

#[test]
fn what_a_switch_means_for_the_conversation_is_said() {
    let mut chat = idle();
    chat.line("/effort high");
    turn(&mut chat, "anthropic", "sonnet");
    let small = ModelInfo { window: Some(8_000), price: None, ..info("ollama", "qwen3") };
    let notice = Notice::new(NoticeCode::Config, "something to know");
    chat.msg(Msg::News(News::Switched { info: small, notices: vec![notice] }));
    let told = printed(&chat);
    for part in [
        "qwen3 answers from now on (ollama, 8k, price unknown).",
        "larger than its window of 8k",
        "The effort stays high, but qwen3 is not known to think",
        "something to know",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    chat.line("/effort low");
    assert!(printed(&chat).contains("qwen3 is not known to think before it answers; it may"), "{}", printed(&chat));
    chat.line("/effort");
    assert!(printed(&chat).contains("How hard qwen3 thinks: low."), "{}", printed(&chat));
}

#[test]
fn costs_are_told_for_the_last_turn_the_session_and_the_day_and_unknown_ones_are_not_nothing() {
    for columns in [120, 80, 40] {
        let mut chat = Chat::new(columns, 24);
        let usage = Usage { input: 1_200, output: 230, cache_read: 4_000, ..Usage::default() };
        let origin = Origin { provider: "ollama".to_owned(), model: "qwen3".to_owned() };
        let context = Context { tokens: 0, window: None };
        chat.event(Event::TurnStarted { turn: 0, origin: origin.clone().into(), label: "qwen3".to_owned(), context });
        chat.event(Event::TurnFinished { turn: 0, stop: StopReason::Stop, usage, cost: None });
        assert_eq!(acts(&chat.line("/cost")), ["add up Some(\"0123\")"]);
        let mut session = Spent::default();
        session.add(&origin, &usage, None);
        let mut today = session.clone();
        today.add(&Origin { provider: "openai".to_owned(), model: "gpt-5".to_owned() }, &usage, Some(0.0125));
        chat.printed.clear();
        chat.msg(Msg::Spent { session, today });
        insta::assert_snapshot!(format!("cost_{columns}"), printed(&chat));
    }
    let mut chat = idle();
    chat.msg(Msg::Spent { session: Spent::default(), today: Spent::default() });
    assert!(printed(&chat).contains("Nothing has been asked yet today."));
}
