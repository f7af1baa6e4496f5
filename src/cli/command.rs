//! The commands beside a task: what may be written there.
//!
//! Declarations only.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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

const SEARCH_HELP: &str = "\
Capitals matter where TEXT has some. With --json a list of
  {session, name, title, cwd, entry_id, timestamp, role, before, match, after}
where role is user, assistant, reasoning, call, result, summary, label or name.

Exit codes:
  0 something was found   1 nothing was";

const EXPORT_HELP: &str = "\
Follows the conversation to where it stands, also through what a summary stands for. Known keys are masked, long content
that is kept elsewhere is put in. md and html are for reading, html is one page that loads nothing; `agent --session
FILE` goes on with what jsonl wrote.";

const IMPORT_HELP: &str = "\
  agent sessions import ~/.claude/projects ~/.codex/sessions ~/.pi/agent/sessions ~/.config/zaica/sessions
Each becomes a new session of the folder it worked in. What has no counterpart here is counted and left out, and so are
grants and the seals of providers. What was imported before is passed over.";

const UNDO_HELP: &str = "\
Without --files or --chat both: the files are as before the turn, and the conversation goes on before it. What you have
changed since stays: it is merged, or the file is left alone and named. Done again, it takes back the turn before.
On a terminal the changes are shown and confirmed first.

Exit codes:
  0 done   1 nothing could be taken back, or the answer was no   2 usage";

const REDO_HELP: &str = "\
What `agent undo` took back is restored, as long as nothing was said in the session since.

Exit codes:
  0 done   1 nothing could be restored, or the answer was no   2 usage";

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
    /// Take back what the last turn did: to files, the conversation, or both
    #[command(after_help = UNDO_HELP)]
    Undo(UndoArgs),
    /// Restore what was taken back
    #[command(after_help = REDO_HELP)]
    Redo(UndoArgs),
    /// List, show, search, name, delete, export and import past sessions, and add them up
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
    /// List the skills a model can load, where they are, and what is wrong with them
    Skills {
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// List the chains: tasks in several steps, run with --chain
    Chains {
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// List the services and jobs that still run, or stop one
    Jobs {
        /// What to do; without it they are listed.
        #[command(subcommand)]
        action: Option<JobsAction>,
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

/// What is taken back or restored.
#[derive(Clone, Debug, Args)]
pub struct UndoArgs {
    /// Files alone
    #[arg(long)]
    pub files: bool,
    /// The conversation alone
    #[arg(long)]
    pub chat: bool,
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// The session, by its id or the beginning of it; the newest of this folder unless named
    #[arg(value_name = "ID")]
    pub id: Option<String>,
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
    /// Find words in what people, models and tools said, the newest first
    #[command(after_help = SEARCH_HELP)]
    Search {
        /// The words, literally
        text: String,
        /// Only in sessions of this folder
        #[arg(long)]
        here: bool,
        /// In those of all folders, as without it
        #[arg(long, hide = true, conflicts_with = "here")]
        all: bool,
        /// Capitals matter, also where the words have none
        #[arg(short = 's', long)]
        case_sensitive: bool,
        /// Show at most so many
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
    /// Write one out: to read it elsewhere, or to go on with it
    #[command(after_help = EXPORT_HELP)]
    Export {
        /// An id or its beginning, or a path
        id: String,
        /// md, html, json, jsonl [default: by the file's ending, else md]
        #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
        format: Option<ExportFormat>,
        /// Write to this file, or into this folder [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
        /// Also what is on other branches; for json and jsonl
        #[arg(long)]
        all_branches: bool,
    },
    /// Take in sessions of Pi, zaica, Claude Code or Codex
    #[command(after_help = IMPORT_HELP)]
    Import {
        /// Their files, or folders of them
        #[arg(required = true, value_name = "FILE|DIR")]
        paths: Vec<PathBuf>,
        /// Whose they are: pi, zaica, claude, codex [default: told by what they hold]
        #[arg(long, value_name = "PROGRAM", hide_possible_values = true)]
        from: Option<ImportFrom>,
        /// Also those that were imported before
        #[arg(long)]
        force: bool,
        /// One JSON value
        #[arg(long)]
        json: bool,
    },
}

/// How a session is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A transcript in Markdown
    #[value(alias = "markdown")]
    Md,
    /// A transcript as one page
    Html,
    /// One object
    Json,
    /// A session file
    Jsonl,
}

/// Whose sessions are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// Pi
    Pi,
    /// zaica
    Zaica,
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// What to do with jobs.
#[derive(Clone, Debug, Subcommand)]
pub enum JobsAction {
    /// End one, and all it started
    Stop {
        /// Its id
        id: String,
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
        #[arg(conflicts_with = "rules")]
        key: Option<String>,
        /// The instructions of AGENTS.md and its like that are sent, and why
        #[arg(long)]
        rules: bool,
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
