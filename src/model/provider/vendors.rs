//! Vendors whose servers are known to differ from their wire, and how: a row each.
//!
//! Facts about vendors live here and nowhere else; what can differ is in [`super::compat`].

use super::compat::{Compat, EffortStyle, MaxTokensField, ReasoningBack};
use super::ids::IdStyle;

/// A vendor known by name or address.
pub struct Vendor {
    /// Its preset's name, or what people call it.
    name: &'static str,
    /// The ends of its hosts' names.
    hosts: &'static [&'static str],
    /// Sets what differs.
    pub differ: fn(&mut Compat),
}

/// All of them. What servers do differently in an answer (whole arguments, repeated ids, late names, usage in odd places)
/// is read alike from each, and needs no word here.
const VENDORS: &[Vendor] = &[
    row("openai", &["openai.com"], |compat| {
        azure(compat);
        compat.prompt_cache_key = true;
    }),
    row("azure", &["openai.azure.com"], azure),
    row("anthropic", &["anthropic.com"], nothing),
    // Reasoning comes as a list of typed details, some of them sealed, and goes back as it came.
    row("openrouter", &["openrouter.ai"], |compat| {
        compat.effort = EffortStyle::Object;
        compat.reasoning_back = ReasoningBack::Details;
        compat.cache_top = true;
    }),
    row("deepseek", &["deepseek.com"], switched),
    row("glm", &["z.ai", "bigmodel.cn"], switched),
    row("moonshot", &["moonshot.ai", "moonshot.cn", "kimi.com"], switched),
    row("groq", &["groq.com"], completion_tokens),
    row("cerebras", &["cerebras.ai"], completion_tokens),
    // Refuses parameters it does not know.
    row("mistral", &["mistral.ai"], |compat| {
        compat.stream_usage = false;
        compat.effort = EffortStyle::Nothing;
        compat.call_ids = IdStyle::Nine;
        compat.tool_result_name = true;
    }),
    // Models that do not reason refuse to be told how much.
    row("xai", &["x.ai"], |compat| compat.effort = EffortStyle::WordIfReasoning),
    row("together", &["together.xyz", "together.ai"], nothing),
    row("qwen", &["aliyuncs.com"], |compat| compat.effort = EffortStyle::Flag),
    row("gemini", &["googleapis.com"], nothing),
    // A proxy for many others: Anthropic's models demand the list of tools, though empty, where the history has calls.
    row("litellm", &[], |compat| {
        own(compat);
        compat.empty_tools = true;
    }),
    row("ollama", &[], |compat| {
        own(compat);
        compat.effort = EffortStyle::WordOrNone;
    }),
];

const fn row(name: &'static str, hosts: &'static [&'static str], differ: fn(&mut Compat)) -> Vendor {
    Vendor { name, hosts, differ }
}

/// A server nobody knows, on this machine or of somebody's own: its model may write calls as text.
pub fn own(compat: &mut Compat) {
    compat.text_calls = true;
    // Whatever template a model brings along is used: those of Mistral's models refuse a user after a result.
    compat.assistant_after_tool = true;
}

/// Known to need nothing of its own, and not to write calls as text.
fn nothing(_: &mut Compat) {}

/// Reasoning models refuse the older name of the output limit.
fn azure(compat: &mut Compat) {
    completion_tokens(compat);
    compat.think_tags = false;
}

fn completion_tokens(compat: &mut Compat) {
    compat.max_tokens_field = MaxTokensField::MaxCompletionTokens;
}

/// These think unless told otherwise, and refuse a history whose calls come without the thoughts before them.
fn switched(compat: &mut Compat) {
    compat.effort = EffortStyle::Switch;
    compat.reasoning_back = ReasoningBack::Content;
}

/// The vendor at an address, which says more than a name anyone may give, else the one of this name.
pub fn find(name: &str, base_url: &str) -> Option<&'static Vendor> {
    let host = host_of(base_url);
    let is_at = |end: &&str| host.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let by_host = VENDORS.iter().find(|vendor| vendor.hosts.iter().any(is_at));
    by_host.or_else(|| VENDORS.iter().find(|vendor| vendor.name == name))
}

/// The host in an address, without user, port and path; good enough to look a vendor up.
fn host_of(base_url: &str) -> String {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default().to_ascii_lowercase()
}
