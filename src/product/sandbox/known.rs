//! Sessions of processes that somebody else has started, known by what was written down of them: whether they are still
//! there, and ending them.
//!
//! Never signals a process that has only the number of the one that is meant: the number counts with the moment its
//! holder started, or with a mark in the environment of those it left behind.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::process::{KILL_ROUND, KILL_WAIT};
use super::tree::{self, Process, Tree};
use super::wait;

/// What tells one start of the system from the next (proc_sys_kernel(5)).
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The session of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The number of its leader.
    pub pid: u32,
    /// When the leader started, in clock ticks since the system did.
    pub started: u64,
    /// Which start of the system that was.
    pub boot: String,
    /// `NAME=value` in the environment of its processes, and of no others.
    pub mark: String,
}

impl Known {
    /// A process that is there now. None where the system does not tell enough to find it again.
    pub fn of(pid: u32, mark: String) -> Option<Self> {
        let started = tree::birth(i32::try_from(pid).ok()?)?.started;
        Some(Self { pid, started, boot: boot()?, mark })
    }

    /// Whether anything of it is left.
    pub fn is_running(&self) -> bool {
        // Mostly it leads, and then the process table need not be read.
        self.leads() || self.leader().is_some_and(|leader| self.look(leader).is_some())
    }

    /// Ends all of it: asks, waits so long, kills. Returns what would not go; nothing where nothing was left.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn end(&self, grace: Duration) -> io::Result<Vec<Process>> {
        let Some(leader) = self.leader() else { return Ok(Vec::new()) };
        let exit = wait::on_exit(leader).ok();
        let Some(mut tree) = self.look(leader) else { return Ok(Vec::new()) };
        let wait = |tree: &mut Tree, until: Instant| -> io::Result<bool> {
            loop {
                let leads = exit.as_ref().filter(|_| self.leads());
                if tree.is_gone()? && leads.is_none() {
                    return Ok(true);
                }
                if Instant::now() >= until {
                    return Ok(false);
                }
                let fds: Vec<_> = leads.into_iter().map(AsFd::as_fd).chain(tree.ends()).map(Some).collect();
                wait::ready(&fds, Some(until))?;
            }
        };
        tree.signal(Signal::TERM);
        wait(&mut tree, Instant::now() + grace)?;
        let until = Instant::now() + KILL_WAIT;
        loop {
            // Also those that were started on the way out.
            let Some(left) = self.look(leader) else { return Ok(Vec::new()) };
            if Instant::now() >= until {
                return Ok(left.members());
            }
            tree = left;
            tree.signal(Signal::KILL);
            wait(&mut tree, Instant::now() + KILL_ROUND)?;
        }
    }

    fn leader(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }

    /// Whether the leader is there and has not ended.
    fn leads(&self) -> bool {
        self.holder() == Holder::Leader { ended: false }
    }

    /// Who has the leader's number now.
    fn holder(&self) -> Holder {
        if boot().is_none_or(|boot| boot != self.boot) {
            return Holder::Other;
        }
        match i32::try_from(self.pid).ok().and_then(tree::birth) {
            Some(birth) if birth.started == self.started => Holder::Leader { ended: birth.ended },
            Some(_) => Holder::Other,
            None => Holder::Nobody,
        }
    }

    /// What is left of it.
    fn look(&self, leader: Pid) -> Option<Tree> {
        let holder = self.holder();
        // A number is not given away while a process of its session is left.
        if holder == Holder::Other {
            return None;
        }
        let mut tree = Tree::of(leader);
        tree.look();
        let members = tree.members();
        let is_there = match holder {
            Holder::Leader { ended } => !ended || !members.is_empty(),
            // That session may be another's, which has lost its leader, too.
            Holder::Nobody => members.iter().any(|member| tree::is_marked(member.pid, &self.mark)),
            Holder::Other => false,
        };
        is_there.then_some(tree)
    }
}

/// Who has a leader's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// The leader, which may have ended and only be waited for.
    Leader { ended: bool },
    /// Another process.
    Other,
    /// No process.
    Nobody,
}

fn boot() -> Option<String> {
    fs::read_to_string(BOOT).ok().map(|boot| boot.trim().to_owned())
}
