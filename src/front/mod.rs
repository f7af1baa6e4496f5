//! Ways in and out, each thin over the product.

pub mod command;
pub mod out;
pub mod print;
pub mod queue;
pub mod stdin;
pub mod stop;
pub mod wire;
