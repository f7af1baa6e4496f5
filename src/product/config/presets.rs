//! What is known about providers before anybody configures one.
//!
//! Data only; how one is chosen is in `product::provider`.

use crate::model::Api;

/// A provider known by name.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The part of its address before the wire's own path.
    pub base_url: &'static str,
    /// The wire it speaks.
    pub api: Api,
    /// The model that is asked unless another is named; `None`: what it lists.
    pub model: Option<&'static str>,
    /// The variable that holds its key; `None`: a server on this machine, which wants none.
    pub variable: Option<&'static str>,
}

const CHAT: Api = Api::OpenaiCompletions;

/// All of them, in the order in which one with a key is taken.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "anthropic",
        base_url: "https://api.anthropic.com",
        api: Api::AnthropicMessages,
        model: Some("claude-sonnet-4-5"),
        variable: Some("ANTHROPIC_API_KEY"),
    },
    Preset {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        api: Api::OpenaiResponses,
        model: Some("gpt-5"),
        variable: Some("OPENAI_API_KEY"),
    },
    Preset {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        api: Api::GoogleGenerativeAi,
        model: Some("gemini-2.5-pro"),
        variable: Some("GEMINI_API_KEY"),
    },
    cloud("openrouter", "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", "OPENROUTER_API_KEY"),
    cloud("deepseek", "https://api.deepseek.com", "deepseek-chat", "DEEPSEEK_API_KEY"),
    cloud("glm", "https://api.z.ai/api/paas/v4", "glm-4.7-flash", "GLM_API_KEY"),
    cloud("groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b", "GROQ_API_KEY"),
    cloud("mistral", "https://api.mistral.ai/v1", "devstral-medium-latest", "MISTRAL_API_KEY"),
    cloud("xai", "https://api.x.ai/v1", "grok-4.7", "XAI_API_KEY"),
    cloud("moonshot", "https://api.moonshot.ai/v1", "kimi-k3.1-pro", "MOONSHOT_API_KEY"),
    cloud("cerebras", "https://api.cerebras.ai/v1", "gpt-oss-120b", "CEREBRAS_API_KEY"),
    cloud("together", "https://api.together.xyz/v1", "moonshotai/Kimi-K3.1-Pro", "TOGETHER_API_KEY"),
    local("ollama", "http://localhost:11434/v1"),
    local("llamacpp", "http://localhost:8080/v1"),
    local("lmstudio", "http://localhost:1234/v1"),
    local("vllm", "http://localhost:8000/v1"),
];

const fn cloud(name: &'static str, base_url: &'static str, model: &'static str, variable: &'static str) -> Preset {
    Preset { name, base_url, api: CHAT, model: Some(model), variable: Some(variable) }
}

const fn local(name: &'static str, base_url: &'static str) -> Preset {
    Preset { name, base_url, api: CHAT, model: None, variable: None }
}

impl Preset {
    /// Headers sent with every request, unless the user sets them otherwise. Sources: OpenRouter's page on the attribution
    /// of apps. It also reads an address from `HTTP-Referer`, which this program does not have.
    pub fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self.name {
            "openrouter" => &[("X-Title", "Viola")],
            _ => &[],
        }
    }

    /// Whether it is a server on this machine.
    pub fn is_local(&self) -> bool {
        self.variable.is_none()
    }
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
