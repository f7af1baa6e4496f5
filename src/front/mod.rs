//! Ways in and out, each thin over the product.

pub mod command;
