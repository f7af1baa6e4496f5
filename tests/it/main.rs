//! The integration tests: one binary, one module a subject.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test that cannot be set up stops, a failed one says where its folders are, and scripts read better without borrows"
)]

mod agents;
mod chains;
mod chat;
mod compaction;
mod config;
mod examples;
mod faults;
mod goal;
mod harness;
mod jobs;
mod keys;
mod loop_guard;
mod mocks;
mod network;
mod one_shot;
mod permissions;
mod pictures;
mod plain;
mod portable;
mod readme;
mod real;
mod replay;
mod rules;
mod screen;
mod sessions;
mod skills;
mod static_binary;
mod succession;
mod support;
mod terminals;
mod tidy;
mod tools;
mod undo;
mod web;
mod wires;
