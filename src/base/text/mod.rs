//! All cutting, cleaning, comparing and counting of text goes through here; no other module slices a `str` by numbers
//! it computed.
//!
//! What outside text looks like when it is shown is decided in two places: [`clean`] takes off what a program printed
//! for a terminal, [`visible`] keeps everything and spells what would not be seen.

pub mod clean;
pub mod cut;
pub mod dropped;
pub mod likeness;
pub mod mask;
pub mod mention;
pub mod numbers;
pub mod visible;
pub mod width;
