//! The input line: text, caret, history of changes. Pure; it knows neither keys' bytes nor the screen.

pub mod draft;
