//! `agent sessions`: from the words of the command line to what the commands take.
//!
//! Decides nothing.

use std::io::{self, BufReader};

use super::form;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::cli::command::{ExportFormat, ImportFrom, SessionsAction};
use crate::front::command;
use crate::front::command::sessions::export::Export;
use crate::front::command::sessions::import::Import;
use crate::front::command::sessions::search::Search;
use crate::front::command::sessions::{Scope, Sure};
use crate::front::out::Out;
use crate::product::auth::secret::Secret;
use crate::product::config::paths::Paths;
use crate::product::config::{self, Flags};
use crate::product::error::Error;
use crate::product::export::{self, Existing, Extent, Filter};
use crate::product::import::{Again, Program};
use crate::product::provider::key::known_secrets;
use crate::product::session::search::Case;
use crate::product::session::store::{Selector, Store};

/// Carries out what is to be done with sessions.
pub(super) fn run(
    action: SessionsAction,
    flags: &Flags,
    env: &Env,
    clock: Clock,
    out: &mut Out<'_>,
) -> Result<u8, Error> {
    let store = Store::new(&Paths::new(env).data_dir, clock);
    let resolve = |hash: &str| store.blobs().get(hash);
    out.both(|stdout, stderr| match action {
        SessionsAction::List { all, json } => {
            let scope = if all { Scope::All } else { Scope::Here };
            command::sessions::list(&store, &env.cwd, scope, form(json), stdout).map(|()| 0)
        }
        SessionsAction::Show { id, json } => {
            let selector = Selector::parse(&id, &env.cwd);
            command::sessions::show(&store, &selector, &env.cwd, form(json), stdout).map(|()| 0)
        }
        SessionsAction::Rm { ids, yes } => {
            let sure = if yes { Sure::Said } else { Sure::Asked };
            let mut input = BufReader::new(io::stdin());
            command::sessions::remove(&store, &ids, sure, &mut input, stdout)
        }
        SessionsAction::Name { id, name } => command::sessions::name(&store, &id, &name, stdout),
        SessionsAction::Stats { json } => command::sessions::stats(&store, form(json), stdout),
        SessionsAction::Search { text, here, all: _, case_sensitive, limit, json } => {
            let scope = if here { Scope::Here } else { Scope::All };
            let case = if case_sensitive { Case::Sensitive } else { Case::Smart };
            let search = Search { words: text, case, scope, limit, form: form(json) };
            command::sessions::search::run(&store, &search, &resolve, &env.cwd, stdout, stderr)
        }
        SessionsAction::Export { id, format, output, force, all_branches } => {
            let loaded = config::load(env, flags)?;
            let mask = Mask::new(known_secrets(&loaded, env, None).iter().map(Secret::expose));
            let wanted = Export {
                id,
                format: format.map(export_format),
                to: output,
                extent: if all_branches { Extent::AllBranches } else { Extent::Path },
                existing: if force { Existing::Replaced } else { Existing::Kept },
            };
            let filter = Filter { mask: &mask, resolve: &resolve };
            command::sessions::export::run(&store, &wanted, &filter, &env.cwd, stdout, stderr)
        }
        SessionsAction::Import { paths, from, force, json } => {
            let again = if force { Again::Yes } else { Again::No };
            let import = Import { paths, from: from.map(program), again, form: form(json) };
            command::sessions::import::run(&store, &import, &env.cwd, stdout, stderr)
        }
    })
}

fn export_format(format: ExportFormat) -> export::Format {
    match format {
        ExportFormat::Md => export::Format::Markdown,
        ExportFormat::Html => export::Format::Html,
        ExportFormat::Json => export::Format::Json,
        ExportFormat::Jsonl => export::Format::JsonLines,
    }
}

fn program(from: ImportFrom) -> Program {
    match from {
        ImportFrom::Pi => Program::Pi,
        ImportFrom::Zaica => Program::Zaica,
        ImportFrom::Claude => Program::Claude,
        ImportFrom::Codex => Program::Codex,
    }
}
