//! Viola, a coding agent for the terminal.
//!
//! Five layers, each importing only those before it; `tests/it/tidy.rs` holds the table:
//!
//! * [`base`]: what could be in a standard library; no agent words.
//! * [`model`]: who to ask. One vocabulary, many wires.
//! * [`kernel`]: the loop. No terminal, no provider, no disk, no clock.
//! * [`product`]: what makes a loop a daily tool: configuration, sessions, tools, permissions.
//! * [`front`]: ways in and out, each thin over `product::agent`.
//!
//! [`cli`] declares the command line; only `main` and what it calls first know of it.

pub mod base;

pub mod model;

pub mod kernel;

pub mod product;

pub mod front;

pub mod cli;
pub mod run;
