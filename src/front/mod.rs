//! Ways in and out, each thin over the product.

pub mod command;
pub mod out;
pub mod print;
pub mod queue;
pub mod repl;
pub mod stdin;
pub mod stop;
pub mod term;
pub mod wire;
