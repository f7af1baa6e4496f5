//! All cutting, cleaning and counting of text goes through here; no other module slices a `str` by numbers it computed.

pub mod clean;
pub mod cut;
