//! Commands of the model: what they may know, how they are started, followed and ended, and what is kept of their output.
//!
//! Nothing here asks for permission or knows what a tool is.

pub mod capture;
pub mod env;
pub mod known;
pub mod process;
pub mod spill;
pub mod start;
mod tree;
mod wait;

pub use tree::Process;
