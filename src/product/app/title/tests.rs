//! Who is asked for a title, what with, and what becomes of the answer.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::model::ReplyFuture;
use crate::model::message::Origin;
use crate::model::reply::{Reply, StopReason};
use crate::product::config::tests::two;

/// A provider elsewhere with these models, each with its price of a million tokens in and out.
fn elsewhere(models: &[(&str, Value)], more: &Value) -> Option<String> {
    let models: Vec<_> = models.iter().map(|(id, cost)| json!({"id": id, "cost": cost})).collect();
    let mut config = json!({"model": "dear", "provider": "own", "providers": {"own": {
        "base_url": "https://models.example/v1", "api": "openai-completions", "api_key": "k-12345678", "models": models}}});
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    let world = two(&config);
    titler(&world.choose().unwrap(), &world.load(), &world.env).map(|titler| titler.model.info().origin.model.clone())
}

#[test]
fn the_cheapest_model_whose_price_is_known_is_asked() {
    let price = |input: f64, output: f64| json!({"input": input, "output": output});
    let models = [("dear", price(5.0, 15.0)), ("cheap", price(0.1, 0.4)), ("unpriced", Value::Null)];
    assert_eq!(elsewhere(&models, &json!({})).as_deref(), Some("cheap"));
    assert_eq!(elsewhere(&models[..1], &json!({})).as_deref(), Some("dear"));
    assert_eq!(elsewhere(&models[2..], &json!({"model": "unpriced"})), None);
    for more in [
        json!({"ui": {"titles": false}}),
        json!({"max_cost": 1}),
        json!({"providers": {"own": {"base_url": "http://127.0.0.1:9/v1", "api_key": "k-12345678",
            "models": [{"id": "dear", "cost": price(5.0, 15.0)}]}}}),
    ] {
        assert_eq!(elsewhere(&models, &more), None, "{more}");
    }
}

#[test]
fn of_a_known_provider_the_catalogue_names_the_cheapest() {
    let price = |known: &catalogue::Known| known.cost.input.unwrap_or_default();
    let dear = catalogue::all("anthropic").max_by(|one, other| price(one).total_cmp(&price(other))).unwrap();
    let config =
        json!({"provider": "anthropic", "model": dear.id, "providers": {"anthropic": {"api_key": "k-12345678"}}});
    let world = two(&config);
    let choice = world.choose().unwrap();
    let titler = titler(&choice, &world.load(), &world.env).unwrap();
    let (chosen, current) = (titler.model.info().price.unwrap(), choice.info.price.unwrap());
    assert!(chosen.input < current.input && chosen.input > 0.0, "{:?}", titler.model.info());
}

/// Answers with this, and keeps what it was asked.
struct Scripted {
    info: ModelInfo,
    answer: Option<&'static str>,
    asked: Mutex<Option<Request>>,
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn reply<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn FnMut(Delta<'_>),
        cancel: &'a Cancel,
    ) -> ReplyFuture<'a> {
        *self.asked.lock().unwrap() = Some(request.clone());
        Box::pin(async move {
            let Some(answer) = self.answer else {
                // As a server that never answers.
                cancel.cancelled().await;
                std::future::pending::<()>().await;
                unreachable!()
            };
            let usage = Usage { input: 1_000_000, ..Usage::default() };
            let content = vec![AssistantPart::Text(answer.to_owned())];
            Ok(Reply { content, stop: StopReason::Stop, usage, written: false })
        })
    }
}

fn ask(answer: Option<&'static str>) -> (Option<Titled>, Request) {
    let info = ModelInfo {
        origin: Arc::new(Origin { provider: "p".into(), model: "small".into() }),
        label: "small".into(),
        window: None,
        max_output: None,
        price: Some(Price { input: 0.5, output: 1.0, cache_read: 0.5, cache_write: 0.5 }),
        reasoning: false,
        images: false,
    };
    let model = Arc::new(Scripted { info, answer, asked: Mutex::default() });
    let titler = Titler { model: Arc::clone(&model) as Arc<dyn Model>, patience: Duration::from_millis(50) };
    let exchange = Exchange { question: "why?".to_owned(), answer: "because".to_owned() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let titled = runtime.block_on(titler.ask(&exchange, &Cancel::new()));
    (titled, model.asked.lock().unwrap().take().unwrap())
}

#[test]
fn one_short_question_gives_a_name_with_its_cost() {
    let (titled, request) = ask(Some("\"Why it is so.\""));
    let titled = titled.unwrap();
    assert_eq!((titled.name.as_str(), titled.origin.model.as_str(), titled.cost), ("Why it is so", "small", Some(0.5)));
    assert_eq!((request.tools.len(), request.options.max_tokens), (0, Some(ANSWER_TOKENS)));
    let Message::User(parts) = request.messages[0].as_ref() else { panic!() };
    let [Part::Text(text)] = parts.as_slice() else { panic!() };
    assert!(text.contains("<question>\nwhy?\n</question>") && text.contains("<answer>\nbecause\n</answer>"), "{text}");
    assert_eq!(ask(Some("")).0, None);
    assert_eq!(ask(Some("I cannot help with that.\nBut here is more.")).0, None);
    assert_eq!(ask(None).0, None, "it does not answer in time");
}

#[test]
fn the_first_exchange_is_what_was_asked_and_the_last_words_before_the_next_question() {
    let said = |text: &str| Arc::new(Message::user(text));
    let answered = |text: &str| {
        let content = vec![AssistantPart::Text(text.to_owned())];
        let origin = Arc::new(Origin { provider: String::new(), model: String::new() });
        let answer =
            crate::model::message::Assistant { content, origin, stop: StopReason::Stop, usage: Usage::default() };
        Arc::new(Message::Assistant(answer))
    };
    let tool = Arc::new(Message::Tool(Vec::new()));
    let first =
        |messages: &[Arc<Message>]| Exchange::first(messages).map(|exchange| (exchange.question, exchange.answer));
    let both = |one: &str, other: &str| Some((one.to_owned(), other.to_owned()));
    assert_eq!(first(&[]), None);
    assert_eq!(first(&[said("q")]), None);
    assert_eq!(first(&[said("q"), answered("")]), None);
    let messages = [said("q"), answered("a"), tool, answered("b"), said("next"), answered("c")];
    assert_eq!(first(&messages), both("q", "b"));
    let long = "x".repeat(5_000);
    let (question, answer) = first(&[said(&long), answered(&long)]).unwrap();
    assert_eq!((question.len(), answer.len()), (SHOWN_CHARS, SHOWN_CHARS));
}
