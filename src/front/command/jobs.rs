//! `agent jobs`: the services that run, whoever started them, and the end of one.
//!
//! Only words; what runs is known in `product::job`. Jobs are not listed: they end with their agent.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{DONE, Form, NO, written};
use crate::base::text::clean;
use crate::base::text::cut::ellipsis;
use crate::base::text::visible;
use crate::product::error::Error;
use crate::product::job::record::{self, Record};
use crate::product::job::{self, JobFacts, Status};

/// A command is shown this wide at most; the JSON form has all of it.
const COMMAND_CHARS: usize = 160;

/// Lists the services that run; `zone` is where the times are told.
///
/// # Errors
///
/// When it cannot be printed.
pub fn list(data_dir: &Path, form: Form, zone: &TimeZone, out: &mut dyn Write) -> Result<u8, Error> {
    let services = record::services(data_dir);
    let text = match form {
        Form::Json => format!("{}\n", services.iter().map(value).collect::<Value>()),
        Form::Text if services.is_empty() => {
            "no services are running; the jobs of a chat are seen there, with /jobs\n".to_owned()
        }
        Form::Text => services.iter().map(|service| lines(service, zone)).collect(),
    };
    print(out, &text)
}

/// Ends one and says what was done. The answer is no where a part of it would not end.
///
/// # Errors
///
/// Usage where there is none of this id; that it could not be ended, or the words not printed.
pub fn stop(data_dir: &Path, id: &str, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let services = record::services(data_dir);
    let Some(found) = services.iter().find(|service| service.id == id) else {
        let all: Vec<JobFacts> = services.iter().map(job::facts).collect();
        return Err(Error::usage(visible::line(&job::unknown(id, &all)).into_owned())
            .hint("`agent jobs` lists the services that run; jobs end with their agent"));
    };
    let ended = job::end_service(data_dir, found);
    let (_, left) = ended.map_err(|error| Error::failed(format!("{id} could not be ended")).caused_by(error))?;
    let status = if left.is_empty() { Status::Stopped } else { Status::Running };
    let text = match (form, status) {
        (Form::Json, _) => format!("{}\n", json!({"id": id, "status": status.as_str()})),
        (Form::Text, Status::Running) => {
            let left: Vec<_> = left.iter().map(|process| format!("{} {}", process.pid, process.name)).collect();
            format!("{id} would not end: {} still runs\n", visible::line(&left.join(", ")))
        }
        (Form::Text, Status::Stopped | Status::Exited(_)) => format!("stopped {id}  {}\n", shown(&found.command)),
    };
    print(out, &text)?;
    Ok(if left.is_empty() { DONE } else { NO })
}

fn lines(service: &Record, zone: &TimeZone) -> String {
    let Record { id, command, cwd, since_ms, log, .. } = service;
    let mut text = format!("{id}  {}\n", shown(command));
    // Writing to a text cannot fail.
    if let Ok(since) = Timestamp::from_millisecond(*since_ms).map(|since| zone.to_datetime(since)) {
        let (day, hour, minute) = (since.date(), since.hour(), since.minute());
        let _ = writeln!(text, "        since {day} {hour:02}:{minute:02}");
    }
    let _ = writeln!(text, "        in    {}", visible::line(&cwd.display().to_string()));
    if let Some(log) = log {
        let _ = writeln!(text, "        log   {}", visible::line(&log.display().to_string()));
    }
    text
}

/// One value; fields are only added.
fn value(service: &Record) -> Value {
    let Record { id, kind, command, cwd, since_ms, log, .. } = service;
    json!({
        "id": id, "kind": kind.as_str(), "command": command, "status": Status::Running.as_str(),
        "cwd": cwd, "since_ms": since_ms, "log": log,
    })
}

fn shown(command: &str) -> String {
    ellipsis(&clean::line(command), COMMAND_CHARS)
}

fn print(out: &mut dyn Write, text: &str) -> Result<u8, Error> {
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map(|()| DONE))
}
