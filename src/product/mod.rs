//! What makes a loop a daily tool: configuration, sessions, tools, permissions, and the place where they meet.

pub mod auth;
pub mod config;
pub mod error;
pub mod permission;
pub mod prompt;
pub mod sandbox;
pub mod session;
pub mod files;
pub mod tool;
