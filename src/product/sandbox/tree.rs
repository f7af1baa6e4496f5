//! The processes that a command has started: finding them, ending them, naming those that are left.
//!
//! A process belongs to a command if it is in the session or group of its leader, or descends from it. The leader is a
//! subreaper, so that even daemons stay its descendants as long as it lives. Where there is no `/proc`, only the
//! leader's process group is known.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::process::{Pid, Signal};

/// A process that is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The program's name, cut to 15 bytes by the system.
    pub name: String,
}

/// The processes of one command that were found so far. The leader must not be reaped as long as this is used.
#[derive(Debug)]
pub(super) struct Tree {
    leader: Pid,
    members: Vec<Member>,
}

impl Tree {
    /// The tree of a session leader. Nothing is known of it before [`Tree::look`].
    pub(super) fn of(leader: Pid) -> Self {
        Self { leader, members: Vec::new() }
    }

    /// Looks everywhere for processes of the tree that are not known yet.
    pub(super) fn look(&mut self) {
        proc::look(self.leader, &mut self.members, proc::Where::Everywhere);
    }

    /// Looks only at processes younger than the leader: quicker, and all there are unless numbers began anew.
    pub(super) fn look_at_younger(&mut self) {
        proc::look(self.leader, &mut self.members, proc::Where::Younger);
    }

    /// Sends a signal to the leader and all that are known. Those that are stopped are woken to receive it.
    pub(super) fn signal(&self, signal: Signal) {
        for signal in [signal, Signal::CONT] {
            let _ = rustix::process::kill_process_group(self.leader, signal);
            // Once each: for some programs a second signal means "at once".
            for member in self.members.iter().filter(|member| !member.in_group) {
                member.signal(signal);
            }
        }
    }

    /// Forgets those that have ended. Whether none but the leader can be left.
    pub(super) fn is_gone(&mut self) -> io::Result<bool> {
        if !self.members.is_empty() {
            let fds: Vec<_> = self.ends().map(Some).collect();
            let mut ended = super::wait::ready(&fds, Some(Instant::now()))?.into_iter();
            self.members.retain(|_| !ended.next().unwrap_or(false));
        }
        Ok(self.members.is_empty())
    }

    /// Descriptors, each ready once its process has ended.
    pub(super) fn ends(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.members.iter().map(|member| member.handle.as_fd())
    }

    /// Those that are known and still there, by the names they have now; the leader is not among them.
    pub(super) fn members(&self) -> Vec<Process> {
        self.members.iter().filter_map(|member| proc::describe(member.pid)).collect()
    }
}

/// What tells a process from the next one with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Birth {
    /// When it started, in clock ticks since the system did.
    pub(super) started: u64,
    /// Whether it has ended and is only waited for.
    pub(super) ended: bool,
}

/// The birth of the process that has this number now; none where the system does not tell.
pub(super) fn birth(pid: i32) -> Option<Birth> {
    proc::birth(pid)
}

/// Whether a process was started with this entry in its environment.
pub(super) fn is_marked(pid: u32, mark: &str) -> bool {
    proc::is_marked(pid, mark)
}

/// A process, held so that its number cannot pass to another unnoticed.
#[derive(Debug)]
struct Member {
    pid: i32,
    handle: OwnedFd,
    /// Whether it is in the leader's process group.
    in_group: bool,
}

#[cfg(target_os = "linux")]
mod proc {
    //! What `/proc` tells.

    use std::collections::BTreeSet;
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{Birth, Member, Process};
    use crate::base::text::clean::clean;

    impl Member {
        pub(super) fn signal(&self, signal: Signal) {
            let _ = pidfd_send_signal(&self.handle, signal);
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum Where {
        Everywhere,
        Younger,
    }

    /// Adds to `members` the living processes of the leader's tree that are not among them.
    pub(super) fn look(leader: Pid, members: &mut Vec<Member>, place: Where) {
        let leader = leader.as_raw_nonzero().get();
        let oldest = match place {
            Where::Everywhere => 0,
            Where::Younger => leader,
        };
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let table: Vec<Stat> = numbers.filter(|pid| *pid >= oldest).filter_map(Stat::read).collect();

        let known: BTreeSet<i32> = members.iter().map(|member| member.pid).collect();
        let mut tree = known.clone();
        tree.insert(leader);
        loop {
            let more: Vec<i32> = table
                .iter()
                .filter(|stat| !tree.contains(&stat.pid) && stat.belongs(leader, &tree))
                .map(|stat| stat.pid)
                .collect();
            if more.is_empty() {
                break;
            }
            tree.extend(more);
        }
        let found = table.iter().filter(|stat| tree.contains(&stat.pid) && !known.contains(&stat.pid));
        members.extend(found.filter(|stat| !stat.ended && stat.pid != leader).filter_map(|stat| hold(stat, leader)));
    }

    fn hold(stat: &Stat, leader: i32) -> Option<Member> {
        let handle = pidfd_open(Pid::from_raw(stat.pid)?, PidfdFlags::empty()).ok()?;
        // Read again: the number may have passed to another process before it was held.
        let now = Stat::read(stat.pid).filter(|now| now.started == stat.started)?;
        Some(Member { pid: now.pid, handle, in_group: now.group == leader })
    }

    /// What a process is called; a new one still has the name of its parent.
    pub(super) fn describe(pid: i32) -> Option<Process> {
        let stat = Stat::read(pid).filter(|stat| !stat.ended)?;
        Some(Process { pid: u32::try_from(pid).ok()?, name: clean(&stat.name) })
    }

    pub(super) fn birth(pid: i32) -> Option<Birth> {
        Stat::read(pid).map(|stat| Birth { started: stat.started, ended: stat.ended })
    }

    pub(super) fn is_marked(pid: u32, mark: &str) -> bool {
        // An empty entry ends the list; it marks nothing.
        if mark.is_empty() {
            return false;
        }
        let entries = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        entries.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    }

    /// A line of `/proc/PID/stat`, as proc_pid_stat(5) describes it.
    struct Stat {
        pid: i32,
        name: String,
        ended: bool,
        parent: i32,
        group: i32,
        session: i32,
        /// In clock ticks since the system started.
        started: u64,
    }

    impl Stat {
        fn read(pid: i32) -> Option<Self> {
            let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
            Self::parse(pid, &String::from_utf8_lossy(&line))
        }

        fn parse(pid: i32, line: &str) -> Option<Self> {
            // The name may hold blanks and parentheses; nothing after it does.
            let (before, after) = line.rsplit_once(')')?;
            let name = before.split_once('(')?.1.to_owned();
            let mut fields = after.split_ascii_whitespace();
            let ended = matches!(fields.next()?, "Z" | "X");
            let mut number = || fields.next()?.parse().ok();
            let (parent, group, session) = (number()?, number()?, number()?);
            // Fields 7 to 21 lie between the session and the start.
            let started = fields.nth(15)?.parse().ok()?;
            Some(Self { pid, name, ended, parent, group, session, started })
        }

        fn belongs(&self, leader: i32, tree: &BTreeSet<i32>) -> bool {
            self.session == leader || self.group == leader || tree.contains(&self.parent)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn names_with_parentheses_are_read() {
            let line = "42 (a) b ( ) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 9 10 11";
            let stat = Stat::parse(42, line).unwrap();
            assert_eq!((stat.name.as_str(), stat.ended, stat.parent), ("a) b ( ", false, 1));
            assert_eq!((stat.group, stat.session, stat.started), (40, 39, 777));
            assert!(Stat::parse(42, "42 (x) S 1").is_none() && Stat::parse(42, "").is_none());
            let own = i32::try_from(std::process::id()).unwrap();
            assert!(Stat::read(own).is_some_and(|stat| !stat.ended && stat.started > 0));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    //! Systems that do not tell about processes in files: the group is all there is.

    use rustix::process::{Pid, Signal};

    use super::{Birth, Member, Process};

    impl Member {
        pub(super) fn signal(&self, _: Signal) {}
    }

    pub(super) enum Where {
        Everywhere,
        Younger,
    }

    pub(super) fn look(_: Pid, _: &mut Vec<Member>, _: Where) {}

    pub(super) fn describe(_: i32) -> Option<Process> {
        None
    }

    pub(super) fn birth(_: i32) -> Option<Birth> {
        None
    }

    pub(super) fn is_marked(_: u32, _: &str) -> bool {
        false
    }
}
