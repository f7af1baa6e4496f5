//! Stopping, as job control has it: the shell that started us gets the terminal back, and later says to go on.
//!
//! Knows nothing of modes; they are off before anything here is called.

use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

/// More ancestors in one process group are no wrapper scripts any more.
const MOST_ANCESTORS: usize = 64;

/// Where a process stands. Nought is what a PID namespace has no number for: a container's first process may have been
/// started by a group and a session that live outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    parent: i32,
    group: i32,
    session: i32,
}

/// The processes between us and the shell that would wake us, all of our own process group; `None` where there is no
/// such shell, and stopping would be for ever: POSIX calls such a group orphaned.
pub fn company() -> Option<Vec<Pid>> {
    let own = standing(getpid())?;
    let mut company = Vec::new();
    let mut parent = getppid()?;
    while company.len() < MOST_ANCESTORS {
        let of_parent = standing(parent)?;
        if of_parent.session != own.session {
            return None;
        }
        if of_parent.group != own.group {
            return Some(company);
        }
        company.push(parent);
        parent = Pid::from_raw(of_parent.parent)?;
    }
    None
}

/// Whether `group` is ours.
pub fn is_own(group: Pid) -> bool {
    standing(getpid()).is_none_or(|own| own.group == group.as_raw_pid())
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

/// Where `process` stands, as proc_pid_stat(5) has it; none where there is no `/proc`. The system calls would do, but
/// rustix takes it for granted that they never answer nought.
#[cfg(target_os = "linux")]
fn standing(process: Pid) -> Option<Standing> {
    standing_in(&std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).ok()?)
}

/// Where `process` stands. The parent is known of this process alone.
#[cfg(not(target_os = "linux"))]
fn standing(process: Pid) -> Option<Standing> {
    use rustix::process::{getpgid, getsid};
    let parent = if process == getpid() { getppid() } else { None };
    Some(Standing {
        parent: parent.map_or(0, Pid::as_raw_pid),
        group: getpgid(Some(process)).ok()?.as_raw_pid(),
        session: getsid(Some(process)).ok()?.as_raw_pid(),
    })
}

/// The fourth to sixth field; the second, the name, may hold anything.
#[cfg(any(target_os = "linux", test))]
fn standing_in(stat: &str) -> Option<Standing> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut numbers = behind_name.split_whitespace().skip(1).map_while(|field| field.parse().ok());
    Some(Standing { parent: numbers.next()?, group: numbers.next()?, session: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standing_is_found_behind_any_name() {
        let stands = |parent, group, session| Some(Standing { parent, group, session });
        assert_eq!(standing_in("17 (a) b (c) 3) S 5 17 16 34816 17"), stands(5, 17, 16));
        assert_eq!(standing_in("4 (agent) R 1 0 0 34816 -1"), stands(1, 0, 0));
        assert_eq!(standing_in("17 (x"), None);
        assert_eq!(standing_in("17 (x) S 5 17"), None);
        let own = standing(getpid()).unwrap();
        assert_eq!(Pid::from_raw(own.parent), getppid());
    }
}
