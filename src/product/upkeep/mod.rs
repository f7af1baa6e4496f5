//! The data folder, looked after: how much there is of what, and what nobody needs any more.
//!
//! Never touches a session, nor anything a running program holds; when to prune is for others to decide.

pub mod prune;
pub mod size;
