//! The `agent` program.

fn main() {}
