//! What could be in a standard library: text, time, files, cancellation. No agent words.

pub mod cancel;
pub mod clock;
pub mod env;
pub mod file_size;
pub mod json;
pub mod jsonl;
pub mod lock;
pub mod panic;
pub mod path;
pub mod paths;
pub mod raster;
pub mod reactive;
pub mod rolling;
pub mod secret;
pub mod text;
pub mod zone;
