//! What an answer took: tokens, and what they cost.

/// Tokens, counted alike on every wire: `input` excludes what was read from or written to a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// The part of `output` that was reasoning, where the provider says so.
    pub reasoning: u64,
}

impl Usage {
    /// All tokens of the request and its answer: what the context held at that moment.
    pub fn context(&self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let Self { input, output, cache_read, cache_write, reasoning } = other;
        self.input += input;
        self.output += output;
        self.cache_read += cache_read;
        self.cache_write += cache_write;
        self.reasoning += reasoning;
    }
}

/// US dollars for a million tokens of each kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Uncached input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from a cache.
    pub cache_read: f64,
    /// Input written to a cache.
    pub cache_write: f64,
}

impl Price {
    /// What `usage` cost, in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price).sum::<f64>() / 1e6
    }
}
