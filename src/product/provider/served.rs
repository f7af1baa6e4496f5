//! What a server on this machine says about a model it serves: the window that is really there, and what the model can.
//!
//! Asks and reads; what follows from it is decided in `product::app`. A server that is silent, slow or odd is no error:
//! nothing is known then, as of any other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::probe::Address;

/// How long all questions together may take; a start with such a server waits for them.
pub const ASK_BUDGET: Duration = Duration::from_millis(200);

/// What a server said about a model; what it did not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Which program serves it.
    pub by: Option<Program>,
    /// Tokens of a request and its answer together, as the server has it running.
    pub window: Option<u64>,
    /// What the window could be raised to: what the model was made for.
    pub most: Option<u64>,
    /// Whether the model sees pictures.
    pub images: Option<bool>,
    /// Whether it reasons before it answers.
    pub reasoning: Option<bool>,
    /// Whether it can be offered tools. Where not, Ollama refuses them, and llama.cpp leaves them out of the prompt.
    pub tools: Option<bool>,
}

/// The servers whose own interfaces are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// <https://github.com/ollama/ollama/blob/main/docs/api.md>
    Ollama,
    /// <https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>
    LlamaCpp,
    /// <https://lmstudio.ai/docs/developer/rest/endpoints>
    LmStudio,
    /// <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>
    Vllm,
}

impl Program {
    /// That of a preset.
    fn of_preset(provider: &str) -> Option<Self> {
        match provider {
            "ollama" => Some(Self::Ollama),
            "llamacpp" => Some(Self::LlamaCpp),
            "lmstudio" => Some(Self::LmStudio),
            "vllm" => Some(Self::Vllm),
            _ => None,
        }
    }

    /// That of an entry in `/models`, by who is said to own the model there.
    fn of_entry(entry: &Value) -> Option<Self> {
        match entry.get("owned_by").and_then(Value::as_str)? {
            "library" => Some(Self::Ollama),
            "llamacpp" => Some(Self::LlamaCpp),
            "organization_owner" => Some(Self::LmStudio),
            "vllm" => Some(Self::Vllm),
            _ => None,
        }
    }

    /// How a window of `tokens` is asked of it, for `model`. None of them takes it with a request on this wire.
    pub fn raising(self, model: &str, tokens: u64) -> String {
        match self {
            Self::Ollama => format!(
                "start Ollama with OLLAMA_CONTEXT_LENGTH={tokens}, or make a model of this one with `PARAMETER num_ctx {tokens}` in its Modelfile"
            ),
            Self::LlamaCpp => format!("start llama-server with `-c {tokens} -np 1`"),
            Self::LmStudio => format!("load it with `lms load {model} --context-length {tokens}`"),
            Self::Vllm => format!("start vLLM with `--max-model-len {tokens}`"),
        }
    }
}

/// Asks the server at `base_url` about a model. `provider` may be a preset's name, which tells the program; that of any
/// other server shows in its list of models. `None` where nothing was learnt within `budget`.
pub fn ask(provider: &str, base_url: &str, model: &str, key: Option<&str>, budget: Duration) -> Option<Served> {
    let address = Address::parse(base_url).ok()?.with_key(key);
    let asked = Asked { address, model, deadline: Instant::now() + budget };
    let served = match Program::of_preset(provider) {
        Some(Program::Ollama) => asked.ollama(),
        Some(Program::LmStudio) => asked.lm_studio(),
        Some(Program::LlamaCpp) => asked.llama_cpp(&asked.entry().unwrap_or_default()),
        Some(Program::Vllm) => generic(&asked.entry()?),
        None => {
            let entry = asked.entry()?;
            match Program::of_entry(&entry) {
                Some(Program::Ollama) => asked.ollama(),
                Some(Program::LmStudio) => asked.lm_studio(),
                Some(Program::LlamaCpp) => asked.llama_cpp(&entry),
                Some(Program::Vllm) | None => generic(&entry),
            }
        }
    };
    (served != Served::default()).then_some(served)
}

struct Asked<'a> {
    address: Address,
    model: &'a str,
    deadline: Instant,
}

impl Asked<'_> {
    fn get(&self, path: &str) -> Option<Value> {
        self.address.ask("GET", path, "", self.deadline).ok()
    }

    fn rooted(&self, path: &str) -> String {
        let root = self.address.path.strip_suffix("/v1").unwrap_or(&self.address.path);
        format!("{root}{path}")
    }

    /// The model's entry in the list that every such server has.
    fn entry(&self) -> Option<Value> {
        find(&self.get(&format!("{}/models", self.address.path))?, "data", |entry| {
            let is_it = |name: &Value| name.as_str() == Some(self.model);
            entry.get("id").is_some_and(is_it)
                || entry.get("aliases").and_then(Value::as_array).is_some_and(|names| names.iter().any(is_it))
        })
    }

    /// The window of a loaded model is in `/api/ps`. Of one that is not, it is known only where the model itself says
    /// it; else the server decides when it loads it, by a variable of its own or by the size of the graphics memory.
    fn ollama(&self) -> Served {
        let body = json!({"model": self.model}).to_string();
        let (shown, running) = std::thread::scope(|scope| {
            let show = || self.address.ask("POST", &self.rooted("/api/show"), &body, self.deadline).ok();
            let shown = scope.spawn(show);
            (shown.join().ok().flatten(), self.get(&self.rooted("/api/ps")))
        });
        let loaded = running.and_then(|running| {
            let name = |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).map(tagged);
            let wanted = Some(tagged(self.model));
            find(&running, "models", |entry| name(entry, "model") == wanted || name(entry, "name") == wanted)
        });
        let shown = shown.unwrap_or_default();
        let abilities = shown.get("capabilities").and_then(Value::as_array);
        let able = |word: &str| abilities.map(|all| all.iter().any(|one| one == word));
        let facts = shown.get("model_info").and_then(Value::as_object);
        let most = facts.into_iter().flatten().find(|(name, _)| name.ends_with(".context_length"));
        let most = most.and_then(|(_, tokens)| tokens.as_u64()).filter(|tokens| *tokens > 0);
        let window = loaded.as_ref().and_then(|entry| number(entry, "context_length")).or_else(|| {
            let own = shown.get("parameters").and_then(Value::as_str).and_then(num_ctx)?;
            Some(most.map_or(own, |most| own.min(most)))
        });
        Served {
            by: Some(Program::Ollama),
            window,
            most,
            images: able("vision"),
            reasoning: able("thinking"),
            tools: able("tools"),
        }
    }

    /// `/props` tells what each of its slots has, and what the model's template can show.
    fn llama_cpp(&self, entry: &Value) -> Served {
        let props = self.get(&self.rooted("/props")).unwrap_or_default();
        let of_slot = props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
        let meta = entry.get("meta").unwrap_or(&Value::Null);
        Served {
            by: Some(Program::LlamaCpp),
            window: of_slot.filter(|tokens| *tokens > 0).or_else(|| number(meta, "n_ctx")),
            most: number(meta, "n_ctx_train"),
            images: props.pointer("/modalities/vision").and_then(Value::as_bool),
            reasoning: None,
            tools: props.pointer("/chat_template_caps/supports_tools").and_then(Value::as_bool),
        }
    }

    fn lm_studio(&self) -> Served {
        let listed = self.get(&self.rooted("/api/v0/models")).unwrap_or_default();
        let is_it = |entry: &Value| entry.get("id").and_then(Value::as_str) == Some(self.model);
        let entry = find(&listed, "data", is_it).unwrap_or_default();
        let most = number(&entry, "max_context_length");
        Served {
            by: Some(Program::LmStudio),
            window: number(&entry, "loaded_context_length").or(most),
            most,
            images: entry.get("type").and_then(Value::as_str).map(|kind| kind == "vlm"),
            ..Served::default()
        }
    }
}

/// vLLM and SGLang put the window into the list, others do so by other names.
fn generic(entry: &Value) -> Served {
    const NAMES: [&str; 4] = ["max_model_len", "context_length", "max_context_length", "context_window"];
    let window = NAMES.into_iter().find_map(|name| number(entry, name));
    Served { by: Program::of_entry(entry), window, ..Served::default() }
}

fn find(answer: &Value, list: &str, is_it: impl Fn(&Value) -> bool) -> Option<Value> {
    answer.get(list)?.as_array()?.iter().find(|entry| is_it(entry)).cloned()
}

fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64).filter(|number| *number > 0)
}

/// A model's name with its tag; Ollama takes `latest` where there is none.
fn tagged(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') { name.to_owned() } else { format!("{name}:latest") }
}

/// The window that a model's own parameters set: a line such as `num_ctx    8192`.
fn num_ctx(parameters: &str) -> Option<u64> {
    parameters
        .lines()
        .find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
        .filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests;
