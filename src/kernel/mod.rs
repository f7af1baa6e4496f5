//! The loop: a pure state machine, and a driver that carries out what it asks for.
//!
//! Nothing here knows a terminal, a provider, a disk or a clock; only the driver knows tokio, threads and time.

pub mod compact;
pub mod driver;
pub mod effect;
pub mod event;
pub mod history;
pub mod inbox;
pub mod input;
pub mod loop_guard;
pub mod node;
pub mod port;
pub mod pot;
pub mod retry;
pub mod schedule;
pub mod succession;
pub mod tool;
pub mod toolbox;
pub mod truncate;
