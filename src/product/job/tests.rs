//! Real commands in the background: how they are read, how they end, and that nothing of them is left.

use std::fs;
use std::thread;

use super::record::Numbers;
use super::*;
use crate::base::env::Env;
use crate::product::sandbox::env::CommandEnv;
use crate::product::sandbox::known::Known;
use crate::product::sandbox::process::{self, Called, Ending, Patience};

const LONG: Duration = Duration::from_secs(30);
const LIMITS: Limits = Limits { chars: 1_000, lines: 100 };

struct Host {
    folder: tempfile::TempDir,
    env: CommandEnv,
    mask: Mask,
    output_dir: PathBuf,
    jobs: Jobs,
}

impl Host {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = CommandEnv::new(&Env::real(), &[], &[]).unwrap();
        let jobs = Jobs::new(folder.path(), Clock::System);
        let output_dir = folder.path().join("output");
        Self { folder, env, mask: Mask::new(["sk-12345678"]), output_dir, jobs }
    }

    fn line<'a>(&'a self, command: &'a str) -> CommandLine<'a> {
        CommandLine { command, cwd: self.folder.path(), env: &self.env }
    }

    fn keeping(&self) -> Keeping<'_> {
        Keeping { limits: LIMITS, output_dir: &self.output_dir, mask: &self.mask }
    }

    fn start(&self, command: &str, kind: Kind) -> Look {
        let order = Order { line: self.line(command), kind, keeping: self.keeping() };
        self.jobs.start(&order, &Cancel::new()).unwrap()
    }

    fn look(&self, id: &str) -> Look {
        self.jobs.look(id, &self.keeping(), &Cancel::new()).unwrap()
    }

    /// Looks until all of `wanted` was seen.
    fn read_until(&self, id: &str, wanted: &str) -> String {
        let (until, mut seen) = (Instant::now() + LONG, String::new());
        while !seen.contains(wanted) {
            assert!(Instant::now() < until, "{seen:?}");
            seen.push_str(&self.look(id).text.head);
        }
        seen
    }

    fn records(&self) -> Vec<Record> {
        record::all(self.folder.path())
    }
}

/// Services of a test end with it, whatever happens.
impl Drop for Host {
    fn drop(&mut self) {
        for record in self.records() {
            let _ = record.known().end(Duration::ZERO);
        }
    }
}

fn is_alive(pid: u32) -> bool {
    Known::of(pid, String::new()).is_some_and(|known| known.is_running())
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        // Between two looks at the condition.
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_job_is_read_on_and_stopped() {
    let host = Host::new();
    let started =
        host.start("echo one; until [ -e go ]; do sleep 0.01; done; echo two; echo $$ >pid; sleep 600", Kind::Job);
    assert_eq!((started.facts.id.as_str(), started.facts.status), ("j1", Status::Running));
    assert_eq!(started.text.head, "one\n");
    fs::write(host.folder.path().join("go"), "").unwrap();
    assert_eq!(host.read_until("j1", "two"), "one\ntwo\n");
    wait_until("the pid is written", || {
        fs::read_to_string(host.folder.path().join("pid")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let pid = fs::read_to_string(host.folder.path().join("pid")).unwrap().trim().parse().unwrap();
    assert!(is_alive(pid) && host.records().len() == 1);
    let (before, left) = host.jobs.stop("j1", &Cancel::new()).unwrap();
    assert_eq!((before.status, left.len(), host.jobs.facts()[0].status), (Status::Running, 0, Status::Stopped));
    assert!(!is_alive(pid) && host.records().is_empty() && host.jobs.take_ended().is_empty());
}

#[test]
fn what_fails_at_once_is_told_at_once() {
    let host = Host::new();
    let begun = Instant::now();
    let look = host.start("echo no such server; exit 3", Kind::Job);
    assert_eq!(
        (look.facts.status, look.text.head.as_str()),
        (Status::Exited(Some(Ending::Exited(3))), "no such server\n")
    );
    assert!(begun.elapsed() < LONG);
    let look = host.start("echo no such server; exit 3", Kind::Service);
    assert_eq!(
        (look.facts.status, look.text.head.as_str()),
        (Status::Exited(Some(Ending::Exited(3))), "no such server\n")
    );
    assert!(host.records().is_empty() && host.jobs.take_ended().is_empty(), "nobody hears it twice");
}

#[test]
fn an_end_nobody_has_heard_of_is_told_once() {
    let host = Host::new();
    host.start("until [ -e go ]; do sleep 0.01; done; exit 7", Kind::Job);
    assert!(host.jobs.take_ended().is_empty());
    fs::write(host.folder.path().join("go"), "").unwrap();
    wait_until("it ends", || host.jobs.facts()[0].status != Status::Running);
    let ended = host.jobs.take_ended();
    assert_eq!((ended.len(), ended[0].status), (1, Status::Exited(Some(Ending::Exited(7)))));
    let news = "The job j1 has ended by itself (exited, exit code: 7); job_output shows what it printed.";
    assert_eq!(ended[0].news(), news);
    assert!(host.jobs.take_ended().is_empty());
}

#[test]
fn a_job_lives_as_long_as_something_of_it() {
    let host = Host::new();
    let look = host.start("(until [ -e go ]; do sleep 0.01; done; echo late) & echo up", Kind::Job);
    assert_eq!((look.facts.status, look.text.head.as_str()), (Status::Running, "up\n"));
    fs::write(host.folder.path().join("go"), "").unwrap();
    assert_eq!(host.read_until("j1", "late"), "up\nlate\n");
    wait_until("it ends", || host.jobs.facts()[0].status == Status::Exited(Some(Ending::Exited(0))));
}

#[test]
fn a_flood_stays_bounded_and_both_ends_are_seen() {
    let host = Host::new();
    host.start("echo first; yes flood | head -c 24000000; echo last; sleep 600", Kind::Job);
    let job = host.jobs.find("j1").unwrap();
    // Whoever looks at the last line does not look at the output.
    wait_until("all of it has come", || job.last_line() == "last");
    let look = host.look("j1");
    let gap = look.text.gap.unwrap();
    assert!(look.text.head.len() + look.text.tail.len() < 20_000 && gap.chars > 1_000_000, "{gap:?}");
    assert!(look.text.tail.ends_with("flood\nlast\n"));
    let kept: u64 = fs::read_dir(&host.output_dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(kept < 25_000_000, "{kept}");
}

#[test]
fn leaving_ends_jobs_and_their_children_soon() {
    let host = Host::new();
    host.start("trap '' TERM; setsid sleep 600 & echo $! >deaf; sleep 600", Kind::Job);
    host.start("sleep 600", Kind::Job);
    wait_until("the pid is written", || {
        fs::read_to_string(host.folder.path().join("deaf")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let pid = fs::read_to_string(host.folder.path().join("deaf")).unwrap().trim().parse().unwrap();
    let begun = Instant::now();
    host.jobs.end_all();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let statuses: Vec<Status> = host.jobs.facts().iter().map(|job| job.status).collect();
    assert_eq!(statuses, [Status::Stopped, Status::Stopped]);
    assert!(!is_alive(pid) && host.records().is_empty());
    let order = Order { line: host.line("true"), kind: Kind::Job, keeping: host.keeping() };
    assert!(matches!(host.jobs.start(&order, &Cancel::new()), Err(NotStarted::Leaving)));
}

#[test]
fn a_service_outlives_its_agent_and_another_reads_and_ends_it() {
    let host = Host::new();
    let command = "echo key sk-12345678; until [ -e go ]; do sleep 0.01; done; echo more; sleep 600";
    let look = host.start(command, Kind::Service);
    let (id, log) = (look.facts.id.clone(), look.log.clone().unwrap());
    assert_eq!((look.facts.status, look.text.head.as_str()), (Status::Running, "key [secret]\n"));
    assert!(!crate::product::files::is_open_to_others(&log));
    host.jobs.end_all();
    assert_eq!(host.jobs.facts()[0].status, Status::Running);

    let later = Jobs::new(host.folder.path(), Clock::System);
    fs::write(host.folder.path().join("go"), "").unwrap();
    wait_until("it prints more", || fs::read_to_string(&log).unwrap().ends_with("more\n"));
    let look = later.look(&id, &host.keeping(), &Cancel::new()).unwrap();
    assert_eq!((look.facts.status, look.text.head.as_str()), (Status::Running, "key [secret]\nmore\n"));
    assert!(later.look(&id, &host.keeping(), &Cancel::new()).unwrap().is_silent());
    assert_eq!(record::services(host.folder.path())[0].command, command.replace("sk-12345678", "[secret]"));
    let complaint = later.stop("s-none", &Cancel::new()).unwrap_err();
    assert_eq!(complaint, format!("no job s-none; there are: {id} (running)"));
    let (before, left) = later.stop(&id, &Cancel::new()).unwrap();
    assert_eq!((before.status, left.len()), (Status::Running, 0));
    assert!(record::services(host.folder.path()).is_empty() && host.records().is_empty());
    assert_eq!(later.look("j1", &host.keeping(), &Cancel::new()).unwrap_err(), "no job j1: there is none at all");
}

#[test]
fn what_a_service_leaves_when_its_shell_ends_is_still_the_service() {
    let host = Host::new();
    let look = host.start("(sleep 600) & echo up", Kind::Service);
    assert_eq!(look.facts.status, Status::Running);
    let record = host.records().remove(0);
    assert!(record.known().is_running());
    assert_eq!(end_service(host.folder.path(), &record).unwrap().1, []);
    assert!(!record.known().is_running());
}

#[test]
fn a_number_that_is_anothers_is_never_signalled() {
    let host = Host::new();
    let look = host.start("sleep 600", Kind::Service);
    let mut record = host.records().remove(0);
    let real = record.clone();
    record.process = Numbers::of(std::process::id()).unwrap();
    record.process = record.process.begun_earlier();
    record.keep(host.folder.path()).unwrap();
    // This test would not get past this line.
    assert_eq!(end_service(host.folder.path(), &record).unwrap().0.status, Status::Exited(None));
    assert!(
        record::services(host.folder.path()).is_empty()
            && !host.folder.path().join("jobs").join(&look.facts.id).exists()
    );
    real.keep(host.folder.path()).unwrap();
    assert!(real.known().is_running());
}

#[test]
fn the_jobs_of_a_killed_agent_are_ended_by_the_next() {
    let host = Host::new();
    host.start("sleep 600", Kind::Job);
    let mut record = host.records().remove(0);
    record.owner = record.owner.begun_earlier();
    record.keep(host.folder.path()).unwrap();
    assert!(record::services(host.folder.path()).is_empty());
    wait_until("it is ended", || host.jobs.facts()[0].status != Status::Running);
}

#[test]
fn a_command_that_a_call_waits_for_goes_to_the_background() {
    let host = Host::new();
    let waiting = host.jobs.waiting();
    assert_eq!(host.jobs.foreground(), 1);
    let line = host.line("echo one; touch began; until [ -e go ]; do sleep 0.01; done; echo two");
    let mut capture = Capture::new(LIMITS, &host.output_dir, Mask::default());
    let began = host.folder.path().join("began");
    let called = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("it runs", || began.exists());
            assert_eq!(host.jobs.to_background(), 1);
        });
        let patience = Patience { timeout: LONG, cancel: &Cancel::new(), leave: waiting.leave() };
        process::run(&line, patience, &mut capture, &|_| {}).unwrap()
    });
    let Called::Left(started) = called else { panic!("{called:?}") };
    assert_eq!(host.jobs.adopt(started, &line, &host.keeping()).unwrap(), "j1");
    drop(waiting);
    assert_eq!((host.jobs.foreground(), host.jobs.to_background()), (0, 0));
    fs::write(host.folder.path().join("go"), "").unwrap();
    let seen = capture.finish("").text.head + &host.read_until("j1", "two");
    assert_eq!(seen, "one\ntwo\n");
}

#[test]
fn more_than_can_be_borne_are_refused() {
    let host = Host::new();
    for _ in 0..MAX_RUNNING {
        let started = Started::piped(&host.line("sleep 600")).unwrap();
        host.jobs.adopt(started, &host.line("sleep 600"), &host.keeping()).unwrap();
    }
    let order = Order { line: host.line("true"), kind: Kind::Job, keeping: host.keeping() };
    let complaint = host.jobs.start(&order, &Cancel::new()).unwrap_err().to_string();
    assert!(complaint.starts_with("32 jobs and services run already") && complaint.contains("j32"), "{complaint}");
}
