//! What makes a loop a daily tool: configuration, sessions, tools, permissions, and the place where they meet.

pub mod agent;
pub mod app;
pub mod auth;
pub mod catalogue;
pub mod chain;
pub mod checkpoint;
pub mod config;
pub mod crew;
pub mod demo;
pub mod error;
pub mod export;
pub mod files;
pub mod front_matter;
pub mod history;
pub mod import;
pub mod journal;
pub mod permission;
pub mod picture;
pub mod prompt;
pub mod provider;
pub mod repository;
pub mod rules;
pub mod sandbox;
pub mod session;
pub mod tool;
pub mod upkeep;
