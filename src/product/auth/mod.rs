//! Keys of providers as they are kept: a type that shows none, the file that holds them, the one that came with a command.
//!
//! Knows no settings; where a provider's key is looked for is in `product::provider::key`.

pub mod secret;
pub mod store;

use crate::base::env::Env;
use secret::Secret;

/// The variable with a key for the provider named at start.
pub const RUN_VARIABLE: &str = "VIOLA_API_KEY";
/// The option with the same meaning.
pub const RUN_OPTION: &str = "--api-key";

/// A key for one run, for the provider named at start and no other.
#[derive(Clone, Debug)]
pub struct RunKey {
    /// The key.
    pub key: Secret,
    /// The option or variable it came in.
    pub place: &'static str,
}

impl RunKey {
    /// The option's, else the variable's.
    pub fn new(option: Option<&Secret>, env: &Env) -> Option<Self> {
        let given = option.map(|key| Self { key: key.clone(), place: RUN_OPTION });
        given.or_else(|| env.var(RUN_VARIABLE).map(|key| Self { key: Secret::new(key), place: RUN_VARIABLE }))
    }
}
