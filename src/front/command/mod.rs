//! Commands that print something and end. Each takes what it works on and where to print; none reads the environment.

pub mod sessions;
