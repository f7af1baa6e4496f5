//! The loop: a pure state machine, and a driver that carries out what it asks for.
//!
//! Nothing here knows a terminal, a provider, a disk or a clock; only the driver knows tokio, threads and time.

pub mod event;
pub mod history;
pub mod port;
pub mod tool;
pub mod truncate;
