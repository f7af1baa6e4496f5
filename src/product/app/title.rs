//! A short title for a session, by the cheapest model of the provider in use: who is asked, and the one question.
//!
//! Nobody is asked where a price is unknown, where nothing is paid because the model runs on this machine, or where a
//! budget is to be kept. Whatever fails fails in silence: a session has a title without it.

use std::sync::Arc;
use std::time::Duration;

use super::asking::connected;
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::text::cut;
use crate::model::message::{AssistantPart, Message, Part};
use crate::model::reply::Delta;
use crate::model::request::{Effort, Options, Request, ToolChoice};
use crate::model::usage::{Price, Usage};
use crate::model::{Api, Model, ModelInfo};
use crate::product::catalogue;
use crate::product::config::Loaded;
use crate::product::config::naming::{id_of, models};
use crate::product::provider::Choice;
use crate::product::provider::facts::Facts;
use crate::product::provider::probe::is_here;
use crate::product::session::{Titled, title};

/// What the model is told.
const PROMPT: &str = include_str!("../../../assets/prompts/title.md");
/// How much of the question and of the answer it is shown: what they are about stands at the beginning.
const SHOWN_CHARS: usize = 1_000;
/// How long it may take: a title that comes later is of no use to anybody.
const PATIENCE: Duration = Duration::from_secs(15);
/// Room for a title, and for a model that says more than it should.
const ANSWER_TOKENS: u64 = 100;
/// Room for one that cannot be kept from reasoning first.
const REASONING_TOKENS: u64 = 1_000;
/// What a request takes, to compare prices by: the prompt with two texts of [`SHOWN_CHARS`].
const ASKED_TOKENS: u64 = 600;

/// Somebody to ask for a title.
#[derive(Clone)]
pub struct Titler {
    model: Arc<dyn Model>,
    patience: Duration,
}

/// Who is asked for a title in a chat with this model; `None` where nobody is. Asks nothing yet, and runs no command: the
/// key is the one that was chosen.
pub fn titler(choice: &Choice, loaded: &Loaded, env: &Env) -> Option<Titler> {
    let settings = &loaded.settings;
    let is_free = choice.api == Api::Replay || choice.local || is_here(&choice.base_url);
    if !settings.ui.titles || is_free || settings.max_cost.is_some() {
        return None;
    }
    let info = cheapest(choice, loaded)?;
    let model = info.origin.model.clone();
    let choice = Choice { model, info, served: None, fallbacks: Vec::new(), notices: Vec::new(), ..choice.clone() };
    let (model, _) = connected(&choice, loaded, env).ok()?;
    Some(Titler { model, patience: PATIENCE })
}

/// The model of that provider whose title costs least, among those in the settings, in the catalogue, and the one in use.
fn cheapest(choice: &Choice, loaded: &Loaded) -> Option<ModelInfo> {
    let provider = &choice.provider;
    let info = |id: &str| Facts::of(&loaded.values, provider, id).info(provider, id);
    let own = models(&loaded.values, provider).filter_map(id_of).map(info);
    // Nothing is said about one that nobody pays for: it may keep what it reads, or be gone tomorrow. Nor is one that ends.
    let is_sound =
        |known: &catalogue::Known| known.until.is_none() && known.cost.input.is_some_and(|price| price > 0.0);
    let known = catalogue::all(provider).filter(is_sound).map(|known| info(known.id));
    let priced = [choice.info.clone()].into_iter().chain(own).chain(known).filter_map(|info| {
        let price = cost(info.price?, info.reasoning);
        Some((price, info))
    });
    // Of several that cost the same the first.
    priced.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, info)| info)
}

/// About what a title costs, in US dollars.
fn cost(price: Price, is_reasoning: bool) -> f64 {
    // Most that can reason can be kept from it.
    let output = if is_reasoning { REASONING_TOKENS / 10 } else { ANSWER_TOKENS / 4 };
    price.cost(&Usage { input: ASKED_TOKENS, output, ..Usage::default() })
}

impl Titler {
    /// Asks once, for at most 15 s. `None` where nothing came of it.
    pub async fn ask(&self, exchange: &Exchange, cancel: &Cancel) -> Option<Titled> {
        let info = self.model.info();
        let most = if info.reasoning { REASONING_TOKENS } else { ANSWER_TOKENS };
        let request = Request {
            system: PROMPT.trim().into(),
            messages: vec![Arc::new(Message::user(exchange.asked()))],
            tools: Arc::new([]),
            tool_choice: ToolChoice::None,
            options: Options { max_tokens: Some(most), effort: Some(Effort::Off), ..Options::default() },
        };
        let mut unheard = |_: Delta<'_>| ();
        let reply = tokio::time::timeout(self.patience, self.model.reply(&request, &mut unheard, cancel)).await;
        let reply = reply.ok()?.ok()?;
        let texts = reply.content.iter().filter_map(|part| match part {
            AssistantPart::Text(text) => Some(text.as_str()),
            AssistantPart::Reasoning(_) | AssistantPart::ToolUse(_) => None,
        });
        let name = title::of_answer(&texts.collect::<String>())?;
        let cost = info.price.map(|price| price.cost(&reply.usage));
        Some(Titled { name, origin: info.origin.as_ref().clone(), usage: reply.usage, cost })
    }
}

/// What was asked first, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    question: String,
    answer: String,
}

impl Exchange {
    /// The first one of a conversation, if both sides said something in words.
    pub fn first(messages: &[Arc<Message>]) -> Option<Self> {
        let words = |parts: &[Part]| title::words(parts).map(|text| cut::head(text.trim(), SHOWN_CHARS).to_owned());
        let mut messages = messages.iter().map(Arc::as_ref);
        let question = messages.find_map(|message| match message {
            Message::User(parts) => words(parts),
            Message::Assistant(_) | Message::Tool(_) => None,
        })?;
        let answers = messages.map_while(|message| match message {
            Message::Assistant(answer) => Some(answer.text()),
            Message::Tool(_) => Some(String::new()),
            Message::User(_) => None,
        });
        let answer = answers.filter(|text| !text.trim().is_empty()).last()?;
        Some(Self { question, answer: cut::head(answer.trim(), SHOWN_CHARS).to_owned() })
            .filter(|exchange| !exchange.question.is_empty())
    }

    fn asked(&self) -> String {
        let Self { question, answer } = self;
        format!("<question>\n{question}\n</question>\n\n<answer>\n{answer}\n</answer>\n\nThe title:")
    }
}

#[cfg(test)]
mod tests;
