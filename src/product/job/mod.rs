//! What runs beside the conversation: jobs, which end with the agent, and services, which stay. Starting them, reading
//! them, ending them, and sending a command that a call waits for to the background.
//!
//! Never asks whether a command may run, and knows no tool; how processes are followed is known in `product::sandbox`.
//!
//! When the agent is killed it ends nothing; the next one that starts or lists jobs ends those it left (`record`).

mod facts;
mod log;
mod one;
pub mod record;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::text::mask::Mask;
use crate::kernel::tool::Limits;
use crate::product::sandbox::Process;
use crate::product::sandbox::capture::Capture;
use crate::product::sandbox::process::{GRACE, StartError};
use crate::product::sandbox::start::{CommandLine, Started};
use log::Place;
use one::{Hurry, Job};
use record::{MARK, New, Record};

pub use facts::{JobFacts, Kind, Look, Status};
pub use log::FOLDER as LOGS;

/// How long a start is watched: most commands that cannot work fail within this.
const FIRST_LOOK: Duration = Duration::from_millis(500);

/// How long a look waits where there is nothing new: a model that asks again and again pays for each question.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many jobs and services of one run may run at once: more than anybody works with, less than a machine bears.
const MAX_RUNNING: usize = 32;

/// After a request to end, until what was asked is taken for stuck: the time to be killed, and some for a busy machine.
const STUCK: Duration = Duration::from_secs(2);

/// What is to be started.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The shell line.
    pub line: CommandLine<'a>,
    /// What becomes of it.
    pub kind: Kind,
    /// How its output is kept.
    pub keeping: Keeping<'a>,
}

/// How output is kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// What a look shows at most.
    pub limits: Limits,
    /// Where long outputs of jobs are kept.
    pub output_dir: &'a Path,
    /// What no look shows.
    pub mask: &'a Mask,
}

impl Keeping<'_> {
    fn capture(&self) -> Capture {
        Capture::new(self.limits, self.output_dir, self.mask.clone())
    }
}

/// Why something was not started, in words for the model.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    /// The command.
    #[error(transparent)]
    Command(#[from] StartError),
    /// There are too many.
    #[error("{MAX_RUNNING} jobs and services run already; end one with job_stop: {0}")]
    TooMany(String),
    /// The agent ends.
    #[error("nothing is started any more: the agent ends")]
    Leaving,
    /// It would not be found again.
    #[error("this system tells too little of processes to find a service again; use `job`, or nohup")]
    NoService,
    /// Anything else.
    #[error("{0} could not be started: {1}")]
    Io(&'static str, io::Error),
}

/// All jobs and services of a run. Clones share them; when the last is dropped, the jobs end.
#[derive(Clone, Debug)]
pub struct Jobs {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    data_dir: PathBuf,
    clock: Clock,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    jobs: Vec<Arc<Job>>,
    /// How many jobs there have been.
    numbered: u32,
    /// Of each call that waits for a command, what lets it go.
    calls: Vec<(u64, Cancel)>,
    next_call: u64,
    /// How far the logs of earlier runs' services were read.
    places: Vec<(String, Place)>,
    leaving: bool,
}

impl Jobs {
    /// None yet. Touches the disk only when the first is started.
    pub fn new(data_dir: &Path, clock: Clock) -> Self {
        Self { inner: Arc::new(Inner { data_dir: data_dir.to_owned(), clock, list: Mutex::default() }) }
    }

    /// Ends what killed agents have left, on a thread of its own, where anything is written down at all.
    pub fn clean_up(&self) {
        let data_dir = self.inner.data_dir.clone();
        if record::is_any(&data_dir) {
            // Without a thread the next one does it.
            let _ = std::thread::Builder::new().name("orphans".to_owned()).spawn(move || record::services(&data_dir));
        }
    }

    /// Starts a command and watches it for a moment: what comes back is how it stands then.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn start(&self, order: &Order<'_>, cancel: &Cancel) -> Result<Look, NotStarted> {
        let Order { line, kind, keeping } = order;
        self.check_room()?;
        let job = match kind {
            Kind::Job => self.take(Started::piped(line)?, line, keeping)?,
            Kind::Service => self.serve(line, keeping)?,
        };
        job.wait_for_end(Instant::now() + FIRST_LOOK, cancel);
        Ok(job.first_look(keeping.limits, keeping.mask))
    }

    /// Takes a command that a call has left. Returns its id.
    ///
    /// # Errors
    ///
    /// Why it was ended instead.
    pub fn adopt(&self, started: Started, line: &CommandLine<'_>, keeping: &Keeping<'_>) -> Result<String, NotStarted> {
        self.check_room()?;
        self.take(started, line, keeping).map(|job| job.id.clone())
    }

    /// A call begins to wait for a command: what it returns is thrown when the command is to go to the background.
    pub fn waiting(&self) -> Waiting {
        let mut list = self.lock();
        let (id, leave) = (list.next_call, Cancel::new());
        list.next_call += 1;
        list.calls.push((id, leave.clone()));
        Waiting { jobs: self.clone(), id, leave }
    }

    /// How many calls wait for a command.
    pub fn foreground(&self) -> usize {
        self.lock().calls.len()
    }

    /// Sends the commands that calls wait for to the background. Returns how many there are.
    pub fn to_background(&self) -> usize {
        let calls: Vec<Cancel> = self.lock().calls.iter().map(|(_, leave)| leave.clone()).collect();
        calls.iter().for_each(Cancel::cancel);
        calls.len()
    }

    /// What is new of one; where nothing is, it is waited for a few seconds. Services of earlier runs are known, too.
    ///
    /// # Errors
    ///
    /// That there is none of this id, and which there are.
    pub fn look(&self, id: &str, keeping: &Keeping<'_>, cancel: &Cancel) -> Result<Look, String> {
        if let Some(job) = self.find(id) {
            job.wait_for_news(Instant::now() + PATIENCE, cancel);
            return Ok(job.look(keeping.limits, keeping.mask));
        }
        let (record, log) = self.earlier(id).ok_or_else(|| self.unknown(id))?;
        let place = self.lock().places.iter().find(|(known, _)| known == id).map_or(Place::default(), |found| found.1);
        let facts = facts(&record);
        match log::read(&log, place, keeping.limits, keeping.mask, &facts.status.to_string()) {
            Ok(page) => {
                let mut list = self.lock();
                list.places.retain(|(known, _)| known != id);
                list.places.push((id.to_owned(), page.place));
                Ok(Look::new(page.outcome, page.skipped, facts, Some(log), Vec::new()))
            }
            Err(error) => Ok(Look::unreadable(&error, facts, &log)),
        }
    }

    /// Ends one and waits until it is gone. What comes back is how it stood before, and what would not go.
    ///
    /// # Errors
    ///
    /// That there is none of this id, and which there are.
    pub fn stop(&self, id: &str, cancel: &Cancel) -> Result<(JobFacts, Vec<Process>), String> {
        let Some(job) = self.find(id) else {
            let (record, _) = self.earlier(id).ok_or_else(|| self.unknown(id))?;
            return end_service(&self.inner.data_dir, &record)
                .map_err(|error| format!("{id} could not be ended: {error}"));
        };
        let before = job.facts();
        job.end(Hurry::None);
        job.wait_for_end(Instant::now() + GRACE + STUCK, cancel);
        Ok((before, job.left()))
    }

    /// Everything of this run, in the order in which it was started.
    pub fn facts(&self) -> Vec<JobFacts> {
        self.lock().jobs.iter().map(|job| job.facts()).collect()
    }

    /// What has ended by itself since this was asked last, and was told nowhere else.
    pub fn take_ended(&self) -> Vec<JobFacts> {
        let jobs = self.lock().jobs.clone();
        jobs.iter().filter(|job| job.is_news()).map(|job| job.facts()).collect()
    }

    /// Ends all jobs and waits until they are gone; services stay. Nothing is started any more.
    pub fn end_all(&self) {
        self.inner.end_all();
    }

    fn check_room(&self) -> Result<(), NotStarted> {
        let list = self.lock();
        if list.leaving {
            return Err(NotStarted::Leaving);
        }
        let running: Vec<&str> =
            list.jobs.iter().filter(|job| job.status() == Status::Running).map(|job| job.id.as_str()).collect();
        if running.len() >= MAX_RUNNING {
            return Err(NotStarted::TooMany(running.join(", ")));
        }
        Ok(())
    }

    /// Follows a job.
    fn take(&self, started: Started, line: &CommandLine<'_>, keeping: &Keeping<'_>) -> Result<Arc<Job>, NotStarted> {
        let id = {
            let mut list = self.lock();
            list.numbered += 1;
            format!("j{}", list.numbered)
        };
        let facts = of_new(id, Kind::Job, line, keeping);
        // Where it cannot be written down, only a killed agent leaves it behind.
        let record = self.record(&facts, &started, line, None).filter(|record| record.keep(self.data_dir()).is_ok());
        let forget = forget(record, self.data_dir());
        let job = Job::follow(facts, None, keeping.capture(), started, forget);
        self.list(job.map_err(|error| NotStarted::Io("a job", error))?)
    }

    fn serve(&self, line: &CommandLine<'_>, keeping: &Keeping<'_>) -> Result<Arc<Job>, NotStarted> {
        let failed = |error| NotStarted::Io("a service", error);
        let (id, log, file) = log::create(self.data_dir()).map_err(failed)?;
        let unused = |error: NotStarted| {
            let _ = std::fs::remove_file(&log);
            error
        };
        let env = line.env.with(MARK, &id);
        let started = Started::printing_to(file, &CommandLine { env: &env, ..*line });
        let started = started.map_err(|error| unused(error.into()))?;
        let facts = of_new(id, Kind::Service, line, keeping);
        let record = self.record(&facts, &started, line, Some(&log)).ok_or(NotStarted::NoService).map_err(unused)?;
        // Dropped, it is killed: one that nobody finds again must not stay.
        record.keep(self.data_dir()).map_err(failed).map_err(unused)?;
        let forget = forget(Some(record), self.data_dir());
        let capture = Capture::of_kept(keeping.limits, keeping.mask.clone());
        self.list(Job::follow(facts, Some(log), capture, started, forget).map_err(failed)?)
    }

    fn record(
        &self,
        facts: &JobFacts,
        started: &Started,
        line: &CommandLine<'_>,
        log: Option<&Path>,
    ) -> Option<Record> {
        let JobFacts { id, command, kind, status: _ } = facts;
        let since_ms = self.inner.clock.now_ms();
        Record::of(New { pid: started.pid(), id, kind: *kind, command, cwd: line.cwd, since_ms, log })
    }

    fn list(&self, job: Arc<Job>) -> Result<Arc<Job>, NotStarted> {
        let mut list = self.lock();
        list.jobs.push(Arc::clone(&job));
        if list.leaving {
            // It was started while the others were being ended.
            job.end(Hurry::Leaving);
        }
        Ok(job)
    }

    fn find(&self, id: &str) -> Option<Arc<Job>> {
        self.lock().jobs.iter().find(|job| job.id == id).cloned()
    }

    /// A service of another run, and its log.
    fn earlier(&self, id: &str) -> Option<(Record, PathBuf)> {
        let found = record::all(self.data_dir()).into_iter().find(|record| record.id == id)?;
        let log = found.log.clone()?;
        (found.kind == Kind::Service).then_some((found, log))
    }

    fn unknown(&self, id: &str) -> String {
        let own = self.facts();
        let others = record::services(self.data_dir());
        let others = others.iter().filter(|other| own.iter().all(|job| job.id != other.id)).map(facts);
        let all: Vec<JobFacts> = own.iter().cloned().chain(others).collect();
        unknown(id, &all)
    }

    fn data_dir(&self) -> &Path {
        &self.inner.data_dir
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.inner.lock()
    }
}

impl Inner {
    fn end_all(&self) {
        let mut list = self.lock();
        list.leaving = true;
        let jobs: Vec<_> = list.jobs.iter().filter(|job| job.kind == Kind::Job).cloned().collect();
        drop(list);
        jobs.iter().filter(|job| job.status() == Status::Running).for_each(|job| job.end(Hurry::Leaving));
        let (until, never) = (Instant::now() + STUCK, Cancel::new());
        jobs.iter().for_each(|job| job.wait_for_end(until, &never));
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// A call that waits for a command. Dropping it ends the wait.
#[derive(Debug)]
pub struct Waiting {
    jobs: Jobs,
    id: u64,
    leave: Cancel,
}

impl Waiting {
    /// Thrown when the command is to go to the background.
    pub fn leave(&self) -> &Cancel {
        &self.leave
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.jobs.lock().calls.retain(|(id, _)| *id != self.id);
    }
}

/// Ends a service that another process may have started. What comes back is how it stood before, and what would not go.
///
/// # Errors
///
/// What the system said.
pub fn end_service(data_dir: &Path, record: &Record) -> io::Result<(JobFacts, Vec<Process>)> {
    let before = facts(record);
    let left = record.known().end(GRACE)?;
    if left.is_empty() {
        record.forget(data_dir);
    }
    Ok((before, left))
}

/// What to say where there is none of this id.
pub fn unknown(id: &str, all: &[JobFacts]) -> String {
    let named: Vec<String> = all.iter().map(|job| format!("{} ({})", job.id, job.status.as_str())).collect();
    match named.as_slice() {
        [] => format!("no job {id}: there is none at all"),
        named => format!("no job {id}; there are: {}", named.join(", ")),
    }
}

/// How a service that is written down stands now.
pub fn facts(record: &Record) -> JobFacts {
    let status = if record.known().is_running() { Status::Running } else { Status::Exited(None) };
    JobFacts { id: record.id.clone(), command: record.command.clone(), kind: record.kind, status }
}

fn of_new(id: String, kind: Kind, line: &CommandLine<'_>, keeping: &Keeping<'_>) -> JobFacts {
    let mut command = line.command.to_owned();
    keeping.mask.apply(&mut command);
    JobFacts { id, command, kind, status: Status::Running }
}

fn forget(record: Option<Record>, data_dir: &Path) -> impl FnOnce() + Send + 'static {
    let data_dir = data_dir.to_owned();
    move || record.iter().for_each(|record| record.forget(&data_dir))
}
