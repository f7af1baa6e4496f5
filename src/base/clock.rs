//! The wall clock, as a value that tests can fix.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    /// The system's own clock.
    #[default]
    System,
    /// Always the same moment, in milliseconds since 1970.
    Fixed(i64),
}

impl Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now_ms(self) -> i64 {
        match self {
            #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
            Self::Fixed(moment) => moment,
        }
    }
}
