//! Stopping, as job control has it: the shell that started us gets the terminal back, and later says to go on.
//!
//! Knows nothing of modes; they are off before anything here is called.

use std::fs;

use rustix::process::{Pid, Signal, getpgid, getpgrp, getpid, getppid, getsid, kill_process};

/// More ancestors in one process group are no wrapper scripts any more.
const MOST_ANCESTORS: usize = 64;

/// The processes between us and the shell that would wake us, all of our own process group; `None` where there is no
/// such shell, and stopping would be for ever: POSIX calls such a group orphaned.
pub fn company() -> Option<Vec<Pid>> {
    let (group, session) = (getpgrp(), getsid(None).ok()?);
    let mut company = Vec::new();
    let mut parent = getppid()?;
    while company.len() < MOST_ANCESTORS {
        if getsid(Some(parent)) != Ok(session) {
            return None;
        }
        if getpgid(Some(parent)) != Ok(group) {
            return Some(company);
        }
        company.push(parent);
        parent = parent_of(parent)?;
    }
    None
}

/// Stops `company` and this process. The call may return a moment before all threads stand still: only the
/// continuation, which the caller hears, says that it is over.
///
/// It is STOP that stops us: a TSTP that is heard stops nobody.
pub fn stop(company: &[Pid]) {
    for ancestor in company {
        // One that has ended does not hold the shell either.
        let _ = kill_process(*ancestor, Signal::TSTP);
    }
    let _ = kill_process(getpid(), Signal::STOP);
}

/// The parent of another process (proc(5)); none where there is no `/proc`.
fn parent_of(process: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    Pid::from_raw(parent_in(&stat)?)
}

/// The fourth field; the second, the name, may hold anything.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("17 (a) b (c) 3) S 5 17 17 34816 17"), Some(5));
        assert_eq!(parent_in("17 (x"), None);
        if let Some(parent) = parent_of(getpid()) {
            assert_eq!(Some(parent), getppid());
        }
    }
}
