//! The two folders of this program.

use std::path::PathBuf;

use crate::base::env::Env;
use crate::base::paths::{config_home, data_home};

/// Where things are kept. Neither folder needs to exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// `config.json`, `auth.json`, rules, skills, chains, plugins, prompts.
    pub config_dir: PathBuf,
    /// Sessions, history, checkpoints, spilled output, logs, trust.
    pub data_dir: PathBuf,
}

/// The folder's name below the platform's own.
const FOLDER: &str = "viola";

impl Paths {
    /// `$VIOLA_CONFIG_DIR` and `$VIOLA_DATA_DIR`, else the platform's folders, else hidden folders where the program was
    /// started: a service without a home must be able to run.
    pub fn new(env: &Env) -> Self {
        let folder = |variable: &str, platform: Option<PathBuf>, last: &str| {
            let chosen = env.var(variable).map(|path| env.absolute(path.as_ref()));
            chosen.or_else(|| platform.map(|home| home.join(FOLDER))).unwrap_or_else(|| env.cwd.join(last))
        };
        Self {
            config_dir: folder("VIOLA_CONFIG_DIR", config_home(env), ".viola/config"),
            data_dir: folder("VIOLA_DATA_DIR", data_home(env), ".viola/data"),
        }
    }
}
