//! Events as JSON, one object a line: the vocabulary of `stream-json`, of `json`'s one object, and of the TCP server.
//!
//! The only place where events get their names and fields; inside the program they are `kernel::event::Event`.

use std::path::Path;

use serde::Serialize;

use crate::base::json::Object;
use crate::kernel::effect::DeniedCall;
use crate::kernel::event::{Context, Event, Notice, Worker};
use crate::model::message::Origin;
use crate::model::usage::Usage;
use crate::product::agent::report::{Failure, Report};
use crate::product::job::JobFacts;

/// One event, borrowed from the domain.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    TurnStart { session_id: &'a str, turn: u32, model: Model<'a>, context: ContextFields },
    Delta { text: &'a str },
    Reasoning { text: &'a str },
    ToolStart { id: &'a str, name: &'a str, args: &'a Object, risk: &'a str },
    ToolProgress { id: &'a str, text: &'a str },
    ToolEnd(ToolEnd<'a>),
    Steered { text: &'a str },
    Notice(NoticeFields<'a>),
    TurnEnd { turn: u32, stop_reason: &'a str, usage: UsageFields },
    Question { id: &'a str, text: &'a str, options: &'a [String] },
    Error { code: &'a str, msg: &'a str, retryable: bool },
    Result(ResultFields<'a>),
}

/// A line, and whose it is.
#[derive(Serialize)]
struct Tagged<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
}

#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    provider: &'a str,
    label: &'a str,
}

#[derive(Serialize)]
struct ContextFields {
    tokens: u64,
    window: Option<u64>,
    usage_pct: Option<f64>,
}

#[derive(Serialize)]
struct ToolEnd<'a> {
    id: &'a str,
    name: &'a str,
    ok: bool,
    output: &'a str,
    duration_ms: u64,
    truncated: bool,
    full_output: Option<&'a Path>,
}

#[derive(Serialize)]
struct NoticeFields<'a> {
    code: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restart: bool,
}

#[derive(Serialize)]
struct UsageFields {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct ResultFields<'a> {
    text: &'a str,
    turns: u32,
    is_error: bool,
    aborted: bool,
    stop_reason: &'a str,
    exit_code: u8,
    session_id: Option<&'a str>,
    duration_ms: u64,
    stdin: &'a str,
    usage_total: UsageFields,
    denied: Vec<Denied<'a>>,
    jobs: Vec<JobFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem<'a>>,
}

#[derive(Serialize)]
struct JobFields<'a> {
    id: &'a str,
    command: &'a str,
    kind: &'a str,
    status: &'a str,
}

#[derive(Serialize)]
struct Problem<'a> {
    code: &'a str,
    msg: &'a str,
}

#[derive(Serialize)]
struct Denied<'a> {
    name: &'a str,
    summary: &'a str,
    rule: Option<&'a str>,
    agent: Option<&'a str>,
}

/// An event as one line of JSON, its line break included.
///
/// What happens within a step or a sub-agent carries its name; of agents within agents the innermost.
pub fn event(event: &Event, session_id: &str) -> Vec<u8> {
    let (mut event, mut agent, mut step) = (event, None, None);
    while let Event::Within(worker, within) = event {
        match worker {
            Worker::Agent(id) => agent = Some(id.as_str()),
            Worker::Step(name) => step = Some(name.as_str()),
        }
        event = within;
    }
    match (agent, step) {
        (None, None) => line(&said(event, session_id)),
        (agent, step) => line(&Tagged { line: said(event, session_id), agent, step }),
    }
}

/// An event of whoever it is.
fn said<'a>(event: &'a Event, session_id: &'a str) -> Line<'a> {
    match event {
        Event::TurnStarted { turn, origin, label, context } => {
            let Origin { provider, model } = &**origin;
            let Context { tokens, window } = *context;
            let model = Model { id: model, provider, label };
            let context = ContextFields { tokens, window, usage_pct: window.map(|window| percent(tokens, window)) };
            Line::TurnStart { session_id, turn: *turn, model, context }
        }
        Event::Text(text) => Line::Delta { text },
        Event::Reasoning(text) => Line::Reasoning { text },
        Event::ToolStarted { id, name, arguments, risk } => {
            Line::ToolStart { id, name, args: arguments, risk: risk.as_str() }
        }
        Event::ToolProgress { id, text } => Line::ToolProgress { id, text },
        Event::ToolFinished { id, name, ok, output, duration_ms, truncated, full_output, change: _ } => {
            Line::ToolEnd(ToolEnd {
                id,
                name,
                ok: *ok,
                output,
                duration_ms: *duration_ms,
                truncated: *truncated,
                full_output: full_output.as_deref(),
            })
        }
        Event::Steered { id: _, text } => Line::Steered { text },
        Event::Notice(Notice { code, text, restart }) => {
            Line::Notice(NoticeFields { code: code.as_str(), text, restart: *restart })
        }
        Event::TurnFinished { turn, stop, usage: tokens, cost } => {
            Line::TurnEnd { turn: *turn, stop_reason: stop.as_str(), usage: usage(*tokens, *cost) }
        }
        Event::Failed { kind, message, retryable } => {
            Line::Error { code: kind.code(), msg: message, retryable: *retryable }
        }
        Event::Question { id, text, options } => Line::Question { id, text, options },
        Event::Within(_, within) => said(within, session_id),
    }
}

/// The last event of a task, as one line of JSON, its line break included.
pub fn result(report: &Report, stdin: &str) -> Vec<u8> {
    let Report { text, turns, ending, exit_code, session_id, duration_ms, usage: tokens, cost, denied, jobs, failure } =
        report;
    let denied = denied.iter().map(|DeniedCall { name, summary, rule, nobody_asked: _, agent }| Denied {
        name,
        summary,
        rule: rule.as_deref(),
        agent: agent.as_deref(),
    });
    let jobs = jobs.iter().map(|JobFacts { id, command, kind, status }| JobFields {
        id,
        command,
        kind: kind.as_str(),
        status: status.as_str(),
    });
    line(&Line::Result(ResultFields {
        text,
        turns: *turns,
        is_error: ending.is_error(),
        aborted: ending.is_aborted(),
        stop_reason: ending.as_str(),
        exit_code: *exit_code,
        session_id: session_id.as_deref(),
        duration_ms: *duration_ms,
        stdin,
        usage_total: usage(*tokens, *cost),
        denied: denied.collect(),
        jobs: jobs.collect(),
        error: failure.as_ref().map(|Failure { code, message }| Problem { code, msg: message }),
    }))
}

/// An `error` event for a task that never began, as one line of JSON, its line break included.
pub fn failure(failure: &Failure) -> Vec<u8> {
    let Failure { code, message } = failure;
    line(&Line::Error { code, msg: message, retryable: false })
}

fn line(line: &impl Serialize) -> Vec<u8> {
    // Plain structs of strings and numbers cannot fail to serialize.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn usage(usage: Usage, cost_usd: Option<f64>) -> UsageFields {
    let Usage { input, output, cache_read, cache_write, reasoning } = usage;
    UsageFields {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning,
        cost_usd,
    }
}

/// How full the window is, in per cent with one decimal.
#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn percent(tokens: u64, window: u64) -> f64 {
    (tokens as f64 * 1_000.0 / window.max(1) as f64).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::event::NoticeCode;
    use crate::kernel::tool::Risk;
    use crate::model::error::ErrorKind;
    use crate::model::reply::StopReason;
    use std::sync::Arc;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn events_have_their_documented_fields() {
        let origin = Arc::new(Origin { provider: "p".into(), model: "m".into() });
        let context = Context { tokens: 5_400, window: Some(128_000) };
        let events = [
            Event::TurnStarted { turn: 0, origin, label: "M".into(), context },
            Event::Text("Hi \"you\"\n".into()),
            Event::ToolStarted { id: "c".into(), name: "t".into(), arguments: Object::new(), risk: Risk::Write },
            Event::Notice(Notice { code: NoticeCode::Retry, text: "again".into(), restart: true }),
            Event::Notice(Notice::new(NoticeCode::Trust, "no")),
            Event::TurnFinished { turn: 0, stop: StopReason::Length, usage: Usage::default(), cost: None },
            Event::Failed { kind: ErrorKind::RateLimit, message: "slow".into(), retryable: true },
        ];
        let lines: String = events.iter().map(|one| text(event(one, "s"))).collect();
        insta::assert_snapshot!(lines, @r#"
        {"type":"turn_start","session_id":"s","turn":0,"model":{"id":"m","provider":"p","label":"M"},"context":{"tokens":5400,"window":128000,"usage_pct":4.2}}
        {"type":"delta","text":"Hi \"you\"\n"}
        {"type":"tool_start","id":"c","name":"t","args":{},"risk":"write"}
        {"type":"notice","code":"retry","text":"again","restart":true}
        {"type":"notice","code":"trust","text":"no"}
        {"type":"turn_end","turn":0,"stop_reason":"length","usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,"cost_usd":null}}
        {"type":"error","code":"rate_limit","msg":"slow","retryable":true}
        "#);
    }
}
