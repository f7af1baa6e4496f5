//! Every setting there is: one flat table that drives checking, environment variables, `config show` and `config set`.
//!
//! Holds no values of a user, and does not know where they come from.

use super::kind::Kind;
use crate::base::text::likeness::closest;
use crate::base::text::{cut, visible};

/// A key's place, segment by segment: `bash.timeout` is `["bash", "timeout"]`.
pub type KeyPath = Vec<String>;

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Its segments joined by dots; `*` stands for any name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Its default as JSON; empty where there is none.
    pub default: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// What a project that nobody has trusted may do with it.
    pub project: Project,
    /// Whether anything reads it yet.
    pub is_built: bool,
}

/// What an untrusted project may do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// Set it.
    Free,
    /// Set it to models of the provider in use.
    Model,
    /// Add to the list.
    Add,
    /// Lower it; nothing set means no limit.
    Lower,
    /// Lower it; nothing set and 0 mean no limit.
    LowerFromZero,
    /// Lower what somebody else has set.
    LowerWhatIsSet,
    /// Nothing.
    Never,
}

const EFFORTS: Kind = Kind::Choice(&["off", "minimal", "low", "medium", "high"]);
const MODES: Kind = Kind::Choice(&["session", "ask", "all", "write", "safe", "none"]);
const SANDBOXES: Kind = Kind::Choice(&["off", "read-only", "workspace"]);
const EDITING: Kind = Kind::Choice(&["emacs", "vi"]);
const ENTER: Kind = Kind::Choice(&["send", "newline"]);
/// How a terminal is made to call for attention; `auto` knows the terminals.
const NOTIFY: Kind = Kind::Choice(&["auto", "off", "bell", "osc9", "osc777"]);

/// Caches that builds write to: package managers and compilers of the common languages.
const BUILD_CACHES: &str = r#"["~/.cache", "~/.cargo", "~/.rustup", "~/.npm", "~/.pnpm-store", "~/.yarn", "~/.bun", "~/go/pkg", "~/.gradle", "~/.m2", "~/.ivy2", "~/.sbt", "~/.nuget", "~/.gem", "~/.bundle", "~/.composer", "~/.hex", "~/.mix", "~/.stack", "~/.cabal", "~/.opam", "~/.local/share/uv", "~/.local/share/pnpm", "~/.ccache"]"#;
/// Where the programs people use keep their secrets, and what processes were given in their environment, this one among them.
const SECRETS: &str = r#"["~/.ssh", "~/.aws", "~/.gnupg", "~/.netrc", "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.config/viola/auth.json", "~/.kube", "~/.docker/config.json", "~/.npmrc", "~/.pypirc", "~/.git-credentials", "~/.cargo/credentials.toml", "~/.password-store", "~/.local/share/keyrings", "~/.vault-token", "~/.terraform.d/credentials.tfrc.json", "/proc/*/environ", "/proc/*/task/*/environ"]"#;

/// All of them, in the order `config show` prints them.
pub static KEYS: &[Key] = &[
    key("provider", Kind::Text, "", "who answers", Project::Never),
    key(
        "model",
        Kind::TextOrList,
        "",
        "the model's id, `provider/id`, or a list whose later ones are fallbacks",
        Project::Model,
    ),
    key("base_url", Kind::Text, "", "the address of the provider in use", Project::Never),
    key("max_tokens", Kind::Integer(1), "", "tokens an answer may have at most", Project::Free),
    key("temperature", Kind::Number(0.0, 2.0), "", "how freely the model chooses its words", Project::Free),
    key("reasoning_effort", EFFORTS, "", "how much the model reasons", Project::Free),
    key("system_prompt", Kind::Text, "", "in place of the built-in one: text or `@file`", Project::Never),
    key("append_system_prompt", Kind::Text, "", "after the system prompt: text or `@file`", Project::Free),
    key("max_turns", Kind::Integer(0), "100", "model calls of one task; 0 is no limit", Project::LowerFromZero),
    key("max_cost", Kind::Positive, "", "US dollars one task may cost", Project::Lower),
    key("timeout", Kind::Positive, "", "seconds one task may take", Project::Lower),
    key("tools.enabled", Kind::List, r#"["*"]"#, "the tools on offer: names, globs, or `lean`", Project::Never),
    key("tools.disabled", Kind::List, "[]", "tools taken from the offer: names or globs", Project::Add),
    key("tools.limits.*.chars", Kind::Integer(1), "", "characters of a result the model sees", Project::LowerWhatIsSet),
    key("tools.limits.*.lines", Kind::Integer(1), "", "lines of a result the model sees", Project::LowerWhatIsSet),
    key("bash.timeout", Kind::Integer(1), "120", "seconds a command may run if the model names none", Project::Lower),
    key("bash.max_timeout", Kind::Integer(1), "600", "seconds the model may name at most", Project::Lower),
    key("bash.env", Kind::List, "[]", "variables let through the secret filter: names or globs", Project::Never),
    key("permissions.mode", MODES, r#""session""#, "what is asked about, and when", Project::Never),
    key("permissions.allow", Kind::List, "[]", "rules for calls that run unasked", Project::Never),
    key("permissions.ask", Kind::List, "[]", "rules for calls that are asked about", Project::Add),
    key("permissions.deny", Kind::List, "[]", "rules for calls that never run", Project::Add),
    key("fetch.allow_private", Kind::List, "[]", "hosts of private addresses that fetch_url may ask", Project::Never),
    later("sandbox.mode", SANDBOXES, r#""off""#, "what shell commands may write", Project::Never),
    later("sandbox.network", Kind::Bool, "true", "whether shell commands have the network", Project::Never),
    key(
        "sandbox.writable",
        Kind::List,
        BUILD_CACHES,
        "paths outside the workspace that may be written",
        Project::Never,
    ),
    key("sandbox.deny_read", Kind::List, SECRETS, "paths that are never read", Project::Never),
    key("loop_detection", Kind::Bool, "true", "whether a model that repeats itself is stopped", Project::Never),
    key("compaction.auto", Kind::Bool, "true", "whether a full conversation is summarised", Project::Never),
    key("compaction.reserve_tokens", Kind::Integer(1), "16384", "tokens kept free for the answer", Project::Never),
    key("compaction.keep_tokens", Kind::Integer(0), "20000", "tokens kept word for word", Project::Never),
    key("compaction.model", Kind::Text, "", "who summarises; the model in use if unset", Project::Never),
    key("subagents.max_depth", Kind::Integer(0), "1", "how deep agents may dispatch agents", Project::Lower),
    key("subagents.max_parallel", Kind::Integer(1), "4", "how many run at once", Project::Lower),
    key("http.connect_timeout", Kind::Positive, "10", "seconds until a connection stands", Project::Never),
    key(
        "http.first_byte_timeout",
        Kind::Positive,
        "300",
        "seconds until the first content; 1800 on this machine",
        Project::Never,
    ),
    key(
        "http.idle_timeout",
        Kind::Positive,
        "180",
        "seconds of silence within an answer; 1800 on this machine",
        Project::Never,
    ),
    key("http.max_retries", Kind::Integer(0), "4", "how often an attempt is repeated", Project::Never),
    key("http.retry_cap", Kind::Positive, "60", "seconds a wait between attempts may take", Project::Never),
    key("http.proxy", Kind::Proxy, "", "a proxy's address, or off; the environment's if unset", Project::Never),
    key("http.ca_file", Kind::Text, "", "certificates to trust besides the system's", Project::Never),
    key("providers.*.base_url", Kind::Text, "", "where the provider is", Project::Never),
    key("providers.*.api", Kind::Wire, "", "the wire it speaks", Project::Never),
    key("providers.*.api_key", Kind::Secret, "", "its key: literal, `$NAME`, or `!command`", Project::Never),
    key("providers.*.headers.*", Kind::Secret, "", "a header sent with every request", Project::Never),
    key("providers.*.compat", Kind::Table, "", "how it differs from its wire", Project::Never),
    key("providers.*.ca_file", Kind::Text, "", "certificates to trust with it, besides the system's", Project::Never),
    key("providers.*.models", Kind::Models, "", "the models it has", Project::Never),
    later("mcp_servers.*", Kind::Table, "", "an MCP server", Project::Never),
    later("plugins.*", Kind::Table, "", "a plugin", Project::Never),
    later("server.listen", Kind::Text, r#""127.0.0.1:9877""#, "where `agent serve` listens", Project::Never),
    later("server.token", Kind::Secret, "", "what its clients have to show", Project::Never),
    later("hooks", Kind::Table, "", "commands run at events", Project::Never),
    later("format_on_edit", Kind::Any, "", "formatters run after edits", Project::Never),
    later("lsp", Kind::Table, "", "language servers", Project::Never),
    later("telemetry", Kind::Table, "", "where measurements go", Project::Never),
    key("ui.theme", Kind::Text, r#""auto""#, "the colours", Project::Never),
    key("ui.editing", EDITING, r#""emacs""#, "how the prompt is edited", Project::Never),
    key("ui.notify", NOTIFY, r#""auto""#, "how the end of a long task is announced", Project::Never),
    key("ui.enter", ENTER, r#""send""#, "what Enter does", Project::Never),
    key("ui.show_reasoning", Kind::Bool, "true", "whether reasoning is shown", Project::Never),
    key("ui.titles", Kind::Bool, "true", "whether a model names new chats", Project::Never),
    key("ui.keys", Kind::Table, "{}", "keys of one's own", Project::Never),
];

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str, project: Project) -> Key {
    Key { name, kind, default, doc, project, is_built: true }
}

/// A setting of a part that is not built yet.
const fn later(name: &'static str, kind: Kind, default: &'static str, doc: &'static str, project: Project) -> Key {
    Key { name, kind, default, doc, project, is_built: false }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A setting.
    Key(&'static Key),
    /// A group of settings.
    Group,
    /// Nothing.
    Unknown,
}

/// What is at `path`.
pub fn place(path: &[String]) -> Place {
    let mut found = Place::Unknown;
    for key in KEYS {
        let mut segments = key.name.split('.');
        if path.iter().all(|name| segments.next().is_some_and(|segment| segment == "*" || segment == name)) {
            if segments.next().is_none() {
                return Place::Key(key);
            }
            found = Place::Group;
        }
    }
    found
}

/// A setting of a group; the first there is.
pub fn one_of(group: &[String]) -> Option<String> {
    KEYS.iter().find_map(|key| {
        let mut segments = key.name.split('.');
        let is_inside =
            group.iter().all(|name| segments.next().is_some_and(|segment| segment == "*" || segment == name));
        let rest = segments.map(|segment| if segment == "*" { "NAME" } else { segment }.to_owned());
        is_inside.then(|| group.iter().cloned().chain(rest).collect::<KeyPath>().join("."))
    })
}

/// The path that `name` spells with dots.
pub fn path(name: &str) -> KeyPath {
    name.split('.').map(str::to_owned).collect()
}

/// So many characters of a key's name are told, more than any key of ours has: a stranger may have written it.
const SHOWN_CHARS: usize = 80;

/// A name of a key as messages show it: on one line that hides nothing, a long one without its middle.
pub fn shown(name: &str) -> String {
    visible::line(&cut::middle(name, SHOWN_CHARS)).into_owned()
}

/// The known key whose spelling is closest to `path`, if it is close: the last segment is compared with its possible
/// neighbours first, then the whole with every key.
pub fn nearest(path: &[String]) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let neighbours = KEYS.iter().filter_map(|key| {
        let mut segments = key.name.split('.');
        let inside = parents.iter().all(|name| segments.next().is_some_and(|s| s == "*" || s == name));
        segments.next().filter(|name| inside && *name != "*")
    });
    if let Some(name) = closest(last, neighbours) {
        return Some([parents, &[name.to_owned()]].concat().join("."));
    }
    let whole = path.join(".");
    // A key written without its group, such as `deny_read`.
    let of_a_group = KEYS.iter().find(|key| key.name.rsplit('.').next() == Some(last.as_str()) && path.len() == 1);
    of_a_group.map(|key| key.name).or_else(|| closest(&whole, KEYS.iter().map(|key| key.name))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_of_its_kind() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let value = serde_json::from_str(key.default).unwrap();
            assert_eq!(key.kind.check(&value), Ok(()), "{}", key.name);
        }
    }

    #[test]
    fn names_are_shown_on_one_short_line() {
        assert_eq!(shown("bash.timeot"), "bash.timeot");
        assert_eq!(shown("a\nb\u{1b}"), "a␊b␛");
        assert_eq!(shown(&"x".repeat(1 << 20)), format!("{}…{}", "x".repeat(40), "x".repeat(39)));
    }

    #[test]
    fn places_and_suggestions() {
        assert!(matches!(place(&path("bash.timeout")), Place::Key(key) if key.name == "bash.timeout"));
        assert!(matches!(place(&path("providers.x.headers.X-Team")), Place::Key(_)));
        assert!(matches!(place(&path("providers.x")), Place::Group));
        assert!(matches!(place(&path("mcp_servers.x")), Place::Key(_)));
        assert!(matches!(place(&path("max_turn")), Place::Unknown));
        assert!(matches!(place(&path("max_turns.x")), Place::Unknown));
        for (written, meant) in [
            ("max_turn", Some("max_turns")),
            ("bash.timeot", Some("bash.timeout")),
            ("providers.my.api_kye", Some("providers.my.api_key")),
            ("deny_read", Some("sandbox.deny_read")),
            ("permisions.mode", Some("permissions.mode")),
            ("sandbx", Some("sandbox")),
            ("colour", None),
        ] {
            assert_eq!(nearest(&path(written)).as_deref(), meant, "{written}");
        }
    }
}
