//! Reports about the open session, as text: what the next request holds and what of it takes how much, tools, settings.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use crate::base::text::mask::Mask;
use crate::base::text::numbers::{count, grouped};
use crate::front::command::config::Action;
use crate::front::command::sessions::Scope;
use crate::front::command::{self, Form};
use crate::kernel::compact::summary_of;
use crate::kernel::history::legal;
use crate::kernel::node::CHARS_PER_TOKEN;
use crate::model::message::{AssistantPart, Message, Origin, Part, ToolInput};
use crate::product::app::{self, Assembled};
use crate::product::error::Error;
use crate::product::rules::Told;
use crate::product::session::store::Store;
use crate::product::tool::workspace::Workspace;

use super::link;
use super::message::Report;
use super::models;
use super::worker::Setup;

/// A report about the open session; `None` for one that needs none.
pub fn of_session(what: &Report, assembled: &Assembled) -> Option<String> {
    match what {
        Report::Context => Some(context(assembled)),
        Report::WholeContext => Some(whole_context(assembled)),
        Report::Tools
        | Report::Config(_)
        | Report::Doctor
        | Report::Sessions
        | Report::Models
        | Report::Skills
        | Report::Chains
        | Report::Rules => None,
    }
}

/// A report that needs no session.
///
/// # Errors
///
/// What the command behind it says.
pub fn of_program(what: Report, setup: &Setup) -> Result<String, Error> {
    let Setup { loaded, env, flags, clock, cancel, .. } = setup;
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    match what {
        Report::Context | Report::WholeContext => {}
        Report::Skills | Report::Chains | Report::Rules => return link::report(&what, setup),
        Report::Tools => {
            let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &[]).map_err(Error::usage)?;
            let tools = app::toolbox(loaded, env, &Arc::new(workspace), &Arc::default(), &Mask::default())?;
            command::tools::run(&tools, Form::Text, &mut out)?;
        }
        Report::Config(key) => {
            command::config::run(&Action::Show { key, form: Form::Text }, env, flags, &mut out, &mut talk)?;
        }
        Report::Doctor => {
            let terminal = command::doctor::Terminal::real();
            command::doctor::run(env, flags, terminal, Form::Text, cancel, &mut out, &mut talk)?;
        }
        Report::Models => {
            for offered in models::offered(loaded, env) {
                let (price, window) = (offered.price(), offered.window());
                let Origin { provider, model } = offered.info.origin.as_ref();
                let _ = writeln!(
                    out,
                    "{model}  {provider}, {window}{}{price}, {}",
                    if window.is_empty() { "" } else { ", " },
                    offered.from
                );
            }
        }
        Report::Sessions => {
            let store = Store::new(&loaded.paths.data_dir, *clock);
            command::sessions::list(&store, &env.cwd, Scope::Here, Form::Text, &mut out)?;
        }
    }
    out.extend(talk);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What the parts of a request weigh, in characters.
#[derive(Default)]
struct Weights {
    summary: usize,
    people: usize,
    answers: usize,
    reasoning: usize,
    calls: usize,
    results: usize,
    images: usize,
}

impl Weights {
    fn of(messages: &[Arc<Message>]) -> Self {
        let mut weights = Self::default();
        for message in messages {
            match &**message {
                Message::User(parts) if summary_of(message).is_some() => weights.summary += weights.parts(parts),
                Message::User(parts) => weights.people += weights.parts(parts),
                Message::Tool(results) => {
                    for result in results {
                        weights.results += weights.parts(&result.content);
                    }
                }
                Message::Assistant(answer) => {
                    for part in &answer.content {
                        match part {
                            AssistantPart::Text(text) => weights.answers += chars(text),
                            AssistantPart::Reasoning(reasoning) => weights.reasoning += chars(&reasoning.text),
                            AssistantPart::ToolUse(call) => {
                                weights.calls += chars(&call.name) + chars(&input(&call.input));
                            }
                        }
                    }
                }
            }
        }
        weights
    }

    fn parts(&mut self, parts: &[Part]) -> usize {
        let mut weight = 0;
        for part in parts {
            match part {
                Part::Text(text) => weight += chars(text),
                Part::Image(_) => self.images += 1,
            }
        }
        weight
    }
}

fn context(assembled: &Assembled) -> String {
    let agent = &assembled.agent;
    let messages = legal(agent.node.history());
    let Weights { summary, people, answers, reasoning, calls, results, images } = Weights::of(&messages);
    let offers = agent.tools.offers();
    let tools: usize = offers
        .iter()
        .map(|offer| chars(&offer.name) + chars(&offer.description) + chars(&offer.parameters.to_string()))
        .sum();
    let (rules, skills) = (&agent.touched.at_start().text, agent.skills.catalogue(&agent.tools).0);
    let (rules, skills) = (chars(rules), chars(&skills));
    let mut rows = vec![
        ("system prompt".to_owned(), chars(&agent.system).saturating_sub(rules + skills)),
        ("rules".to_owned(), rules),
        ("skills".to_owned(), skills),
        (count(offers.len() as u64, "tool"), tools),
        ("summary".to_owned(), summary),
        ("what you said".to_owned(), people),
        ("answers".to_owned(), answers),
        ("reasoning".to_owned(), reasoning),
        ("calls".to_owned(), calls),
        ("results".to_owned(), results),
    ];
    rows.retain(|(_, chars)| *chars > 0);
    let total: u64 = rows.iter().map(|(_, chars)| tokens(*chars)).sum();
    let mut text = String::new();
    for (name, chars) in &rows {
        let share = (100 * tokens(*chars) + total / 2) / total.max(1);
        let _ = writeln!(text, "{name:<18} {:>10} tokens  {share:>3} %", grouped(tokens(*chars)));
    }
    let window = agent
        .model
        .info()
        .window
        .map_or_else(String::new, |window| format!(" of {}, {} %", grouped(window), 100 * total / window.max(1)));
    let _ = writeln!(text, "{:<18} {:>10} tokens{window}", "in all, about", grouped(total));
    if images > 0 {
        let _ = writeln!(text, "and {}", count(images as u64, "picture"));
    }
    for Told { path, kept, is_cut, why, .. } in agent.touched.at_start().files.iter().chain(&agent.touched.since()) {
        let cut = if *is_cut { ", the rest is left out" } else { "" };
        let bytes = grouped(*kept as u64);
        let _ = writeln!(text, "rules of {}: {}, {bytes} bytes{cut}", path.display(), why.as_str());
    }
    if summary > 0 {
        let _ = writeln!(
            text,
            "The summary stands for the beginning of the conversation; `agent sessions show {}` has all of it.",
            agent.session.id()
        );
    }
    let _ = writeln!(
        text,
        "{} in the conversation; estimated at {CHARS_PER_TOKEN} characters a token. /context all shows every word.",
        count(messages.len() as u64, "message")
    );
    text
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Rounded up, so that nothing counts as nothing.
fn tokens(chars: usize) -> u64 {
    (chars as u64).div_ceil(CHARS_PER_TOKEN)
}

fn input(input: &ToolInput) -> String {
    match input {
        ToolInput::Object(object) => crate::base::json::canonical(object),
        ToolInput::Invalid { raw, .. } => raw.clone(),
    }
}

fn whole_context(assembled: &Assembled) -> String {
    let agent = &assembled.agent;
    let mut text = String::new();
    let mut part = |title: &str, content: &str| {
        let _ = writeln!(text, "--- {title}\n{}\n", content.trim_end());
    };
    part("system", &agent.system);
    for offer in agent.tools.offers().iter() {
        part(&format!("tool {}", offer.name), &format!("{}\n{}", offer.description, offer.parameters));
    }
    let parts = |parts: &[Part]| -> String {
        let shown = parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Image(image) => format!("[picture: {}, {} bytes]", image.label(), image.data.len()),
        });
        shown.collect::<Vec<_>>().join("\n\n")
    };
    for message in legal(agent.node.history()) {
        match &*message {
            Message::User(content) => part("user", &parts(content)),
            Message::Tool(results) => {
                for result in results {
                    part(&format!("result of {}", result.call_id), &parts(&result.content));
                }
            }
            Message::Assistant(answer) => {
                for piece in &answer.content {
                    match piece {
                        AssistantPart::Text(text) => part("assistant", text),
                        AssistantPart::Reasoning(reasoning) => part("assistant, reasoning", &reasoning.text),
                        AssistantPart::ToolUse(call) => {
                            part(&format!("assistant calls {} ({})", call.name, call.id), &input(&call.input));
                        }
                    }
                }
            }
        }
    }
    text
}
