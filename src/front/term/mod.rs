//! The terminal itself: modes, size, waiting, reading, writing. Nothing else touches it.
//!
//! [`caps`] says what it can do, [`tty`] holds it and waits, [`mailbox`] is how other threads wake whoever waits,
//! [`announce`] are the words to the window around it, [`hidden`] reads a line that nobody is to see. What bytes from it mean is not known here.

pub mod announce;
pub mod caps;
pub mod cooked;
mod guard;
pub mod hidden;
mod job;
mod line;
pub mod mailbox;
pub mod modes;
pub mod reflow;
pub mod tty;
