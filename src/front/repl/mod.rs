//! The interactive chat: keys and events in, a screen out.
//!
//! [`message`] names everything that can happen and be wanted. [`update`] decides, [`state`] is what there is, and
//! [`state::frame`] shows it; all of it pure, as are [`key`], [`editor`], [`view`] and [`screen`]. [`run`] begins
//! the loop that feeds them; [`host`] carries out what they want, with the [`worker`] that owns the
//! agent and the [`keeper`] of files.

mod clipboard;
pub mod complete;
pub mod demo;
mod desk;
pub mod editor;
mod helpers;
pub mod host;
pub mod keeper;
pub mod key;
mod link;
pub mod message;
pub mod models;
pub mod pictures;
pub mod plain;
mod report;
pub mod run;
pub mod screen;
pub mod state;
pub mod update;
pub mod view;
pub mod worker;
