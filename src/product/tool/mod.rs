//! The tools the model is offered, each a [`crate::kernel::tool::Tool`]; their descriptions are in `assets/tools`.
//!
//! No tool asks for permission, knows the session, or prints.

pub mod arguments;
pub mod ask;
pub mod bash;
pub mod edit;
pub mod fetch;
pub mod find;
#[cfg(test)]
pub mod fixture;
pub mod job;
pub mod lean;
pub mod list;
mod missing;
pub mod plan;
pub mod read;
pub(crate) mod save;
pub mod search;
pub mod seen;
mod target;
pub mod walk;
pub mod workspace;
pub mod write;
