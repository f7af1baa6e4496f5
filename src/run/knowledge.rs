//! `agent skills`, `agent chains`, `agent jobs` and `agent config show --rules`: from the words of the command line to what
//! the commands take.
//!
//! Decides nothing.

use std::sync::Arc;

use crate::base::env::Env;
use crate::cli::command::JobsAction;
use crate::front::command::{self, Form};
use crate::front::out::Out;
use crate::product::app;
use crate::product::config::{self, Flags};
use crate::product::error::Error;
use crate::product::rules::{self, Place};

pub(super) fn skills(_: Form, _: &Env, _: &Flags, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn chains(_: Form, _: &Env, _: &Flags, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn jobs(_: Option<JobsAction>, _: Form, _: &Env, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn rules(form: Form, env: &Env, flags: &Flags, out: &mut Out<'_>) -> Result<u8, Error> {
    let loaded = config::inspect(env, flags);
    let workspace = Arc::new(app::workspace(&loaded, env)?);
    let rules = rules::load(&Place::new(workspace, env.home.clone(), loaded.paths.config_dir.clone()));
    out.both(|stdout, stderr| {
        // A broken setting may be the one that closes a file of rules.
        command::written(command::config::complain(&loaded, stderr).map(|()| command::DONE))?;
        command::rules::run(&rules, env.home.as_deref(), form, stdout, stderr)
    })
}
