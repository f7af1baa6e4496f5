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
        self.sent().saturating_add(self.output)
    }

    /// The tokens of the request alone.
    pub fn sent(&self) -> u64 {
        // A server may claim any number.
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let Self { input, output, cache_read, cache_write, reasoning } = other;
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cache_read = self.cache_read.saturating_add(cache_read);
        self.cache_write = self.cache_write.saturating_add(cache_write);
        self.reasoning = self.reasoning.saturating_add(reasoning);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_claims_can_be_added() {
        let most = u64::MAX;
        let absurd = Usage { input: most, output: most, cache_read: most, cache_write: most, reasoning: most };
        let mut sum = Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 2 };
        assert_eq!((sum.sent(), sum.context()), (8, 10));
        sum += absurd;
        assert_eq!((sum, sum.sent(), sum.context()), (absurd, most, most));
    }
}
