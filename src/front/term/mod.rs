//! The terminal itself: modes, size, waiting, reading, writing. Nothing else touches it.
