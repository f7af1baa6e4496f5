//! Advisory locks on open files. They vanish with the process that holds them, however it ends.
//!
//! Nothing here waits longer than the caller says, and nothing creates files.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How often a lock that is taken is tried again: far below what a person notices, far above what a try costs.
const POLL: Duration = Duration::from_millis(5);

/// Takes the exclusive lock of `file` and holds it until the last handle of this opening is closed.
///
/// `false` when another opening still holds it after `patience`. A file system without locks counts as free.
///
/// # Errors
///
/// Whatever the system says besides "taken" and "not supported".
pub fn exclusive(file: &File, patience: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + patience;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) | Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => return Ok(true),
            Err(Errno::WOULDBLOCK) if Instant::now() >= deadline => return Ok(false),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(POLL),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_opening_at_a_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let second = File::open(file.path()).unwrap();
        assert!(exclusive(file.as_file(), Duration::ZERO).unwrap());
        assert!(!exclusive(&second, Duration::from_millis(1)).unwrap());
        drop(file);
        assert!(exclusive(&second, Duration::ZERO).unwrap());
    }
}
