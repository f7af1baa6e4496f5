//! The only retry policy: whether a failed attempt is made again, and after which wait.
//!
//! Pure: the driver waits, and brings the randomness.

use std::time::Duration;

use crate::base::text::numbers;
use crate::model::error::{ErrorKind, ModelError};

/// The first wait; each further one is twice as long, so that a server under load soon has rest.
const BASE: Duration = Duration::from_secs(1);
/// The first wait after an empty answer: the server is well, so there is little to wait for.
const BASE_AFTER_EMPTY: Duration = Duration::from_millis(250);
/// An empty answer is asked for again so often.
const EMPTY_RETRIES: u32 = 2;

/// The user's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How often one turn is tried again, for whatever reason.
    pub max_retries: u32,
    /// The longest wait; a server that names a longer one is not waited for.
    pub cap: Duration,
}

/// The attempts of one turn that were made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retries {
    /// All of them.
    pub total: u32,
    /// Those after an empty answer.
    pub empty: u32,
}

impl Retries {
    /// One more, after this failure.
    #[must_use]
    pub fn after(self, kind: ErrorKind) -> Self {
        Self { total: self.total + 1, empty: self.empty + u32::from(kind == ErrorKind::Empty) }
    }
}

/// What is to be done about a failed attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Try again.
    Again {
        /// After this wait.
        wait: Duration,
        /// Which repetition of its kind it is, from 1.
        number: u32,
        /// How many of its kind there may be.
        allowed: u32,
    },
    /// Let the turn fail, with this error.
    GiveUp(ModelError),
}

/// Decides about one failed attempt. `retries` counts those already made in this turn; `dice` is random, from 0 to 1.
pub fn decide(policy: &Policy, retries: Retries, error: &ModelError, dice: f64) -> Decision {
    let (made, allowed, base) = match error.kind {
        ErrorKind::Empty => (retries.empty, EMPTY_RETRIES.min(policy.max_retries), BASE_AFTER_EMPTY),
        ErrorKind::RateLimit
        | ErrorKind::Overload
        | ErrorKind::Network
        | ErrorKind::Timeout
        | ErrorKind::Auth
        | ErrorKind::Context
        | ErrorKind::Refused
        | ErrorKind::Picture
        | ErrorKind::Seal
        | ErrorKind::InvalidRequest
        | ErrorKind::Length
        | ErrorKind::Cancelled
        | ErrorKind::Internal => (retries.total, if error.retryable { policy.max_retries } else { 0 }, BASE),
    };
    if made >= allowed || retries.total >= policy.max_retries {
        return Decision::GiveUp(error.clone());
    }
    let wait = match error.retry_after {
        Some(named) if named > policy.cap => return Decision::GiveUp(too_long(error, named, policy.cap)),
        // Never earlier than asked; a little later, so that many clients do not come back at the same moment.
        Some(named) => named + Duration::from_millis(200).mul_f64(dice),
        None => {
            let exponential = base.saturating_mul(1 << made.min(16)).min(policy.cap);
            exponential.mul_f64(0.75 + dice / 2.0).min(policy.cap)
        }
    };
    Decision::Again { wait, number: made + 1, allowed }
}

fn too_long(error: &ModelError, named: Duration, cap: Duration) -> ModelError {
    let message = format!(
        "{}; the server asks to wait {}, longer than http.retry_cap ({} s)",
        error.message,
        numbers::wait(named),
        cap.as_secs()
    );
    ModelError { message, retryable: true, ..error.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POLICY: Policy = Policy { max_retries: 4, cap: Duration::from_secs(60) };

    fn total(total: u32) -> Retries {
        Retries { total, empty: 0 }
    }

    fn wait(decision: &Decision) -> Duration {
        match decision {
            Decision::Again { wait, .. } => *wait,
            Decision::GiveUp(error) => panic!("gave up: {error}"),
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let error = ModelError::new(ErrorKind::Overload, "overloaded");
        let waits: Vec<_> = (0..4).map(|made| wait(&decide(&POLICY, total(made), &error, 0.5)).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8]);
        assert_eq!(decide(&POLICY, total(4), &error, 0.5), Decision::GiveUp(error));
    }

    #[test]
    fn a_named_wait_is_honoured_or_refused() {
        let mut error = ModelError::new(ErrorKind::RateLimit, "slow down");
        error.retry_after = Some(Duration::from_secs(7));
        assert!((7.0..7.3).contains(&wait(&decide(&POLICY, total(0), &error, 0.9)).as_secs_f64()));
        error.retry_after = Some(Duration::from_secs(3_700));
        let Decision::GiveUp(refused) = decide(&POLICY, total(0), &error, 0.9) else { panic!("waits for an hour") };
        assert!(refused.message.contains("62 min") && refused.message.contains("60 s"), "{refused}");
    }

    #[test]
    fn what_cannot_succeed_is_not_repeated_and_the_empty_twice() {
        let auth = ModelError::new(ErrorKind::Auth, "wrong key");
        assert_eq!(decide(&POLICY, total(0), &auth, 0.0), Decision::GiveUp(auth));
        let empty = ModelError::new(ErrorKind::Empty, "nothing");
        let after_trouble = Retries { total: 2, empty: 0 };
        assert!(matches!(decide(&POLICY, after_trouble, &empty, 0.0), Decision::Again { number: 1, allowed: 2, .. }));
        let twice = after_trouble.after(ErrorKind::Empty).after(ErrorKind::Empty);
        assert!(matches!(decide(&POLICY, twice, &empty, 0.0), Decision::GiveUp(_)));
        assert!(matches!(decide(&POLICY, total(4), &empty, 0.0), Decision::GiveUp(_)), "one cap for all");
    }

    proptest! {
        #[test]
        fn no_wait_is_above_the_cap(retries in 0u32..100, dice in 0.0f64..=1.0, cap in 1u64..100) {
            let policy = Policy { max_retries: 1000, cap: Duration::from_secs(cap) };
            let error = ModelError::new(ErrorKind::Network, "gone");
            prop_assert!(wait(&decide(&policy, total(retries), &error, dice)) <= policy.cap);
        }
    }
}
