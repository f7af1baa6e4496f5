//! The interactive chat: keys and events in, a screen out.
//!
//! [`key`] says what was pressed, [`editor`] is the input line, [`complete`] what a word of it may become, [`view`] turns what there is to show into styled text, all
//! of it pure; [`screen`] turns that into bytes.

pub mod complete;
pub mod editor;
pub mod key;
pub mod screen;
pub mod view;
