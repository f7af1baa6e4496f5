//! Settings as the program uses them: typed, complete, made once from the values that hold.
//!
//! Knows nothing of layers but where a text's file is looked for; what a value may be was checked before.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::layer::Values;
use super::paths::Paths;
use crate::base::json::Object;
use crate::model::request::Effort;
use crate::product::auth::{secret::Secret, store};

/// All settings but those of providers and models, which `product::provider` reads.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Tokens an answer may have at most.
    pub max_tokens: Option<u64>,
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// How much the model reasons.
    pub reasoning_effort: Option<Effort>,
    /// In place of the built-in system prompt.
    pub system_prompt: Option<String>,
    /// After the system prompt.
    pub append_system_prompt: Option<String>,
    /// Model calls of one task; `None`: no limit.
    pub max_turns: Option<u64>,
    /// US dollars one task may cost.
    pub max_cost: Option<f64>,
    /// How long one task may take.
    pub timeout: Option<Duration>,
    /// Which tools are on offer.
    pub tools: Tools,
    /// How commands are run.
    pub bash: Bash,
    /// Hosts whose addresses may be private, for `fetch_url`: names or globs.
    pub fetch_private: Vec<String>,
    /// What is asked about.
    pub permissions: Permissions,
    /// What may be written and read.
    pub sandbox: Sandbox,
    /// Whether a model that repeats itself is stopped.
    pub loop_detection: bool,
    /// What happens to a full conversation.
    pub compaction: Compaction,
    /// Agents that agents dispatch.
    pub subagents: Subagents,
    /// How servers are talked to.
    pub http: Http,
    /// MCP servers, by name, as written.
    pub mcp_servers: Object,
    /// Plugins, by name, as written.
    pub plugins: Object,
    /// `hooks`, as written.
    pub hooks: Object,
    /// `lsp`, as written.
    pub lsp: Object,
    /// `telemetry`, as written.
    pub telemetry: Object,
    /// `format_on_edit`, as written; null if it is not.
    pub format_on_edit: Value,
    /// The TCP server.
    pub server: Server,
    /// The terminal.
    pub ui: Ui,
}

/// Which tools are on offer, and how much of their results is seen.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Names or globs.
    pub enabled: Vec<String>,
    /// Names or globs; these win.
    pub disabled: Vec<String>,
    /// By tool.
    pub limits: BTreeMap<String, Limit>,
}

/// How much of a result the model sees, where it was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// In characters.
    pub chars: Option<usize>,
    /// In lines.
    pub lines: Option<usize>,
}

/// How commands are run.
#[derive(Clone, Debug, Default)]
pub struct Bash {
    /// Where the model names none; never above the most.
    pub timeout: Duration,
    /// What the model may name at most.
    pub max_timeout: Duration,
    /// Variables let through the secret filter: names or globs.
    pub env: Vec<String>,
}

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// When.
    pub mode: Mode,
    /// Rules, as written.
    pub allow: Vec<String>,
    /// Rules, as written.
    pub ask: Vec<String>,
    /// Rules, as written.
    pub deny: Vec<String>,
}

/// When a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Once a session.
    #[default]
    Session,
    /// At every call.
    Ask,
    /// Never: everything runs.
    All,
    /// Never: what is safe and what writes runs.
    Write,
    /// Never: what is safe runs.
    Safe,
    /// Never: nothing runs.
    None,
}

/// What may be written and read.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// What was asked for. No kernel sandbox is built yet; file tools leave the workspace only with an explicit `off`.
    pub mode: SandboxMode,
    /// Whether the mode was chosen by anybody.
    pub is_explicit: bool,
    /// Whether shell commands have the network.
    pub network: bool,
    /// Paths and globs outside the workspace that may be written.
    pub writable: Vec<String>,
    /// Paths and globs that are never read; where keys are kept is always among them.
    pub deny_read: Vec<String>,
}

/// What shell commands may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Anything.
    #[default]
    Off,
    /// Nothing.
    ReadOnly,
    /// The workspace.
    Workspace,
}

/// What happens to a full conversation.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// Whether it is summarised.
    pub auto: bool,
    /// Tokens kept free for the answer.
    pub reserve_tokens: u64,
    /// Tokens kept word for word.
    pub keep_tokens: u64,
    /// Who summarises; the model in use if unset.
    pub model: Option<String>,
}

/// Agents that agents dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subagents {
    /// How deep.
    pub max_depth: u64,
    /// How many at once.
    pub max_parallel: u64,
}

/// How servers are talked to.
#[derive(Clone, Debug, Default)]
pub struct Http {
    /// Until a connection stands.
    pub connect_timeout: Duration,
    /// Until the first content.
    pub first_byte_timeout: Duration,
    /// Silence within an answer.
    pub idle_timeout: Duration,
    /// How often an attempt is repeated.
    pub max_retries: u32,
    /// What a wait between attempts may take.
    pub retry_cap: Duration,
    /// A proxy's address, or `off`; the environment's if unset.
    pub proxy: Option<String>,
    /// Certificates to trust besides the system's, as a path.
    pub ca_file: Option<String>,
}

/// The TCP server.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// `address:port`, or `unix:path`.
    pub listen: String,
    /// What clients have to show.
    pub token: Option<Secret>,
}

/// The terminal.
#[derive(Clone, Debug, Default)]
pub struct Ui {
    /// The colours' name.
    pub theme: String,
    /// `emacs` or `vi`.
    pub editing: String,
    /// How the end of a long task is announced.
    pub notify: String,
    /// What Enter does: `send` or `newline`.
    pub enter: String,
    /// Whether reasoning is shown.
    pub show_reasoning: bool,
    /// Whether a model names new chats.
    pub titles: bool,
    /// Keys of one's own, as written.
    pub keys: Object,
}

impl Settings {
    /// Makes them from the values that hold. The two prompts are left out: they may be in files.
    pub fn new(values: &Values, paths: &Paths) -> Self {
        let read = Read(values);
        let max_turns = read.integer("max_turns");
        Self {
            max_tokens: read.maybe_integer("max_tokens"),
            temperature: read.maybe_number("temperature"),
            reasoning_effort: read.maybe_text("reasoning_effort").as_deref().and_then(effort),
            system_prompt: None,
            append_system_prompt: None,
            max_turns: (max_turns > 0).then_some(max_turns),
            max_cost: read.maybe_number("max_cost"),
            timeout: read.maybe_number("timeout").map(seconds),
            tools: Tools {
                enabled: read.list("tools.enabled"),
                disabled: read.list("tools.disabled"),
                limits: read.limits(),
            },
            bash: Bash {
                timeout: read.duration("bash.timeout").min(read.duration("bash.max_timeout")),
                max_timeout: read.duration("bash.max_timeout"),
                env: read.list("bash.env"),
            },
            fetch_private: read.list("fetch.allow_private"),
            permissions: Permissions {
                mode: mode(&read.text("permissions.mode")),
                allow: read.list("permissions.allow"),
                ask: read.list("permissions.ask"),
                deny: read.list("permissions.deny"),
            },
            sandbox: read.sandbox(paths),
            loop_detection: read.flag("loop_detection"),
            compaction: Compaction {
                auto: read.flag("compaction.auto"),
                reserve_tokens: read.integer("compaction.reserve_tokens"),
                keep_tokens: read.integer("compaction.keep_tokens"),
                model: read.maybe_text("compaction.model"),
            },
            subagents: Subagents {
                max_depth: read.integer("subagents.max_depth"),
                max_parallel: read.integer("subagents.max_parallel"),
            },
            http: read.http(),
            mcp_servers: read.named("mcp_servers"),
            plugins: read.named("plugins"),
            hooks: read.table("hooks"),
            lsp: read.table("lsp"),
            telemetry: read.table("telemetry"),
            format_on_edit: read.value("format_on_edit").cloned().unwrap_or_default(),
            server: Server {
                listen: read.text("server.listen"),
                token: read.maybe_text("server.token").as_deref().map(Secret::new),
            },
            ui: Ui {
                theme: read.text("ui.theme"),
                editing: read.text("ui.editing"),
                notify: read.text("ui.notify"),
                enter: read.text("ui.enter"),
                show_reasoning: read.flag("ui.show_reasoning"),
                titles: read.flag("ui.titles"),
                keys: read.table("ui.keys"),
            },
        }
    }
}

/// What is never read: as configured, and the file with the keys whatever is configured.
pub fn deny_read(values: &Values, paths: &Paths) -> Vec<String> {
    let mut deny_read = Read(values).list("sandbox.deny_read");
    let keys = paths.config_dir.join(store::FILE).display().to_string();
    if !deny_read.contains(&keys) {
        deny_read.push(keys);
    }
    deny_read
}

/// Reads values of known kinds. What has a default in the table is there; the fallbacks are never reached.
struct Read<'a>(&'a Values);

impl Read<'_> {
    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|held| &held.value)
    }

    fn is_explicit(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|held| held.source != super::layer::Source::Default)
    }

    fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or_default()
    }

    fn integer(&self, name: &str) -> u64 {
        self.maybe_integer(name).unwrap_or_default()
    }

    fn maybe_integer(&self, name: &str) -> Option<u64> {
        self.value(name).and_then(Value::as_u64)
    }

    fn maybe_number(&self, name: &str) -> Option<f64> {
        self.value(name).and_then(Value::as_f64)
    }

    fn duration(&self, name: &str) -> Duration {
        self.maybe_number(name).map(seconds).unwrap_or_default()
    }

    fn text(&self, name: &str) -> String {
        self.maybe_text(name).unwrap_or_default()
    }

    fn maybe_text(&self, name: &str) -> Option<String> {
        self.value(name).and_then(Value::as_str).map(str::to_owned)
    }

    fn list(&self, name: &str) -> Vec<String> {
        let items = self.value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn table(&self, name: &str) -> Object {
        self.value(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// `group.NAME` for every name.
    fn named(&self, group: &str) -> Object {
        self.0.below(&[group]).filter_map(|(path, held)| Some((path.get(1)?.clone(), held.value.clone()))).collect()
    }

    fn limits(&self) -> BTreeMap<String, Limit> {
        let mut limits = BTreeMap::<String, Limit>::new();
        for (path, held) in self.0.below(&["tools", "limits"]) {
            let [_, _, tool, unit] = path.as_slice() else { continue };
            let limit = limits.entry(tool.clone()).or_default();
            let number = held.value.as_u64().and_then(|number| usize::try_from(number).ok());
            match unit.as_str() {
                "chars" => limit.chars = number,
                _ => limit.lines = number,
            }
        }
        limits
    }

    fn sandbox(&self, paths: &Paths) -> Sandbox {
        Sandbox {
            mode: match self.text("sandbox.mode").as_str() {
                "read-only" => SandboxMode::ReadOnly,
                "workspace" => SandboxMode::Workspace,
                _ => SandboxMode::Off,
            },
            is_explicit: self.is_explicit("sandbox.mode"),
            network: self.flag("sandbox.network"),
            writable: self.list("sandbox.writable"),
            deny_read: deny_read(self.0, paths),
        }
    }

    fn http(&self) -> Http {
        Http {
            connect_timeout: self.duration("http.connect_timeout"),
            first_byte_timeout: self.duration("http.first_byte_timeout"),
            idle_timeout: self.duration("http.idle_timeout"),
            max_retries: u32::try_from(self.integer("http.max_retries")).unwrap_or(u32::MAX),
            retry_cap: self.duration("http.retry_cap"),
            proxy: self.maybe_text("http.proxy"),
            ca_file: self.maybe_text("http.ca_file"),
        }
    }
}

/// The longest duration there is, in seconds: what is beyond it is as good as no limit, and clocks can still add it.
const MAX_SECONDS: f64 = 1e9;

fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number.clamp(0.0, MAX_SECONDS))
}

fn effort(word: &str) -> Option<Effort> {
    match word {
        "off" => Some(Effort::Off),
        "minimal" => Some(Effort::Minimal),
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        _ => None,
    }
}

fn mode(word: &str) -> Mode {
    match word {
        "ask" => Mode::Ask,
        "all" => Mode::All,
        "write" => Mode::Write,
        "safe" => Mode::Safe,
        "none" => Mode::None,
        _ => Mode::Session,
    }
}
