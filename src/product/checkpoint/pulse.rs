//! A sign of life: while a turn may change files, the time stamp of a file is kept fresh.
//!
//! Where the program is killed, it tells what was changed before that from what was changed later. Whether that matters is
//! decided elsewhere.

use std::fs::File;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

/// How often: nobody changes a file of his own so shortly after a program was killed, and it costs a microsecond.
const BEAT: Duration = Duration::from_millis(50);

/// A thread that says that this process lives, until this is dropped.
#[derive(Debug)]
pub struct Pulse {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Keeps the time stamp of this file fresh.
    ///
    /// # Errors
    ///
    /// That there is no thread to be had, or the file is not this user's.
    pub fn start(file: File) -> io::Result<Self> {
        beat(&file)?;
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("pulse".into()).spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let _ = beat(&file);
            }
            // What was changed until now was changed while somebody watched.
            let _ = beat(&file);
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn beat(file: &File) -> io::Result<()> {
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
    };
    Ok(rustix::fs::futimens(file, &times)?)
}
