//! The commands beside a task: what may be written there.
//!
//! Declarations only.

use std::path::PathBuf;

use clap::Subcommand;

use super::OutputFormat;

const LOGIN_HELP: &str = "\
The key is typed where nobody sees it, or read as the first line of standard input:
  agent auth login anthropic
  pass show anthropic | agent auth login anthropic
The server is asked for its list of models, which costs nothing. A key that it refuses is not kept (exit code 4).";

const DOCTOR_HELP: &str = "\
The provider in use, your own ones, those with a key, and servers found on this machine are asked for their lists of
models: all at once, within 5 s, at no cost.

Exit codes:
  0 the configuration is in order, and the provider in use answers and takes its key   1 otherwise";

const MODELS_HELP: &str = "\
Your own models come first, then what is known of those of providers that have
a key, and what servers on this machine list. `-` is what nobody told; `*` is
the model that would be asked now.

With --json an object; costs are US dollars for a million tokens:
  models     [{provider, id, name, window, max_output,
              cost {input, output, cache_read, cache_write},
              images, reasoning, tools, until, next,
              from (config, preset, catalogue, server), current}]
  default    {provider, id} of the model that would be asked now
  nobody     why there is none
  locked     [{provider, variable, models}] without a key
  problems   [text]
  catalogue  {source, date}
What nobody told is null.";

/// Something else than a task.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Watch a recorded repair being done for real: no key, no network
    Demo {
        /// Work in this folder and keep it
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
        /// text, json, stream-json, as for a task [default: text]
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        #[arg(hide_default_value = true, hide_possible_values = true)]
        output_format: OutputFormat,
    },
    /// List, show, name, delete and add up past sessions
    Sessions {
        /// What to do.
        #[command(subcommand)]
        action: SessionsAction,
    },
    /// Show or change settings
    Config {
        /// What to do.
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Look at what a project's own settings would do, and let them in
    Trust {
        /// The project's folder; this one unless named
        dir: Option<PathBuf>,
    },
    /// List the models that can be asked, and what they cost
    #[command(after_help = MODELS_HELP)]
    Models {
        /// Only those whose provider, id or name has these words
        pattern: Vec<String>,
        /// Also what providers without a key have
        #[arg(long)]
        all: bool,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// List the tools on offer
    Tools {
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Keep keys of providers, and tell where they come from
    Auth {
        /// What to do.
        #[command(subcommand)]
        action: AuthAction,
    },
    /// Look at terminal, network, keys, paths, storage and configuration, and name the fix
    #[command(after_help = DOCTOR_HELP)]
    Doctor {
        /// Remove old output and logs, unused blobs, and what killed programs left; sessions stay
        #[arg(long)]
        prune: bool,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script
    Completions {
        /// For this shell
        shell: clap_complete::Shell,
    },
}

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionsAction {
    /// List those of this folder
    List {
        /// Those of all folders
        #[arg(long)]
        all: bool,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Show one
    Show {
        /// An id or its beginning, or a path
        id: String,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Delete some, with their checkpoints, for good
    Rm {
        /// Ids or their beginnings
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Give one a name
    Name {
        /// An id or its beginning
        id: String,
        /// The name
        name: String,
    },
    /// Add up what all of them took, by model and by day, and what they take on disk
    Stats {
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
}

/// What to do with keys.
#[derive(Clone, Debug, Subcommand)]
pub enum AuthAction {
    /// Ask for a provider's key, have its server check it, and keep it in auth.json
    #[command(after_help = LOGIN_HELP)]
    Login {
        /// The provider, such as anthropic
        name: String,
        /// Keep it without asking the server
        #[arg(long)]
        no_check: bool,
    },
    /// Forget the key in auth.json
    Logout {
        /// The provider
        name: String,
    },
    /// Tell which providers have a key, and where from
    List {
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
}

/// What to do with settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigAction {
    /// Every value and where it is from; with a key, also what each layer says
    Show {
        /// Such as bash or bash.timeout
        key: Option<String>,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Where the file is
    Path,
    /// Make a file to begin with
    Init,
    /// Print one value
    Get {
        /// Such as bash.timeout
        key: String,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Change one value in the file
    Set {
        /// Such as bash.timeout
        key: String,
        /// Lists with commas or as JSON; null takes the setting out
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}
