//! `agent skills`, `agent chains`, `agent jobs` and `agent config show --rules`: from the words of the command line to what
//! the commands take.
//!
//! Decides nothing.

use crate::base::env::Env;
use crate::cli::command::JobsAction;
use crate::front::command::Form;
use crate::front::out::Out;
use crate::product::config::Flags;
use crate::product::error::Error;

pub(super) fn skills(_: Form, _: &Env, _: &Flags, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn chains(_: Form, _: &Env, _: &Flags, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn jobs(_: Option<JobsAction>, _: Form, _: &Env, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}

pub(super) fn rules(_: Form, _: &Env, _: &Flags, _: &mut Out<'_>) -> Result<u8, Error> {
    Err(Error::usage("not built yet"))
}
