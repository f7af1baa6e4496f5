//! Whose turn it is to decode: a large picture takes hundreds of megabytes while that lasts, and calls run side by side.
//!
//! Knows nothing of pictures.

use std::sync::{Condvar, Mutex, PoisonError};

/// How many decode at once: the largest two together stay below half a gigabyte.
const MOST_AT_ONCE: usize = 2;

/// How many are at it.
static BUSY: Mutex<usize> = Mutex::new(0);
/// Told when one of them has ended.
static ENDED: Condvar = Condvar::new();

/// A turn, until it is dropped.
pub struct Turn(());

impl Turn {
    /// Waits for one.
    pub fn wait() -> Self {
        let busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        let mut busy = ENDED.wait_while(busy, |busy| *busy >= MOST_AT_ONCE).unwrap_or_else(PoisonError::into_inner);
        *busy += 1;
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *BUSY.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_than_two_have_a_turn() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _turn = Turn::wait();
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= MOST_AT_ONCE);
    }
}
