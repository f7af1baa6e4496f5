//! `agent sessions import`: which files, and what is said about each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::text::numbers::count;
use crate::base::text::visible;
use crate::front::command::{DONE, Form, NO, written};
use crate::product::error::{Error, Kind};
use crate::product::import::{self, Again, Importer, Outcome, Program, Taken};
use crate::product::session::store::Store;

/// What is to be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Files, and folders of them, relative to the working directory.
    pub paths: Vec<PathBuf>,
    /// Who wrote them, where that is not told by what they hold.
    pub from: Option<Program>,
    /// Whether sessions are taken in a second time.
    pub again: Again,
    /// For whom is told what became of them.
    pub form: Form,
}

/// Takes sessions in and says what became of each. Returns 1 where one could not be.
///
/// # Errors
///
/// When a folder cannot be looked into, or nothing can be printed.
pub fn run(store: &Store, wanted: &Import, cwd: &Path, out: &mut dyn Write, talk: &mut dyn Write) -> Result<u8, Error> {
    let Import { paths, from, again, form } = wanted;
    let mut importer = Importer::new(store, cwd, *again);
    let (mut list, mut code) = (Vec::new(), DONE);
    for path in paths {
        let path = cwd.join(path);
        let (files, is_folder) = (import::files(&path)?, path.is_dir());
        let mut foreign = 0;
        for file in &files {
            match importer.import(file, *from) {
                Ok(outcome) => match form {
                    Form::Text => {
                        written(tell(file, &outcome, out))?;
                    }
                    Form::Json => list.push(outcome_json(file, &outcome)),
                },
                // Many things may lie in a folder.
                Err(error) if is_folder && error.kind == Kind::Usage => foreign += 1,
                Err(error) if paths.len() == 1 && !is_folder => return Err(error),
                Err(error) => {
                    code = NO;
                    written(complain(&error, talk))?;
                }
            }
        }
        if foreign > 0 || (is_folder && files.is_empty()) {
            let what = count(foreign, "other file");
            let line = format!("{}: {what} passed over\n", visible::line(&path.display().to_string()));
            let _ = talk.write_all(line.as_bytes());
        }
    }
    if *form == Form::Json {
        let printed = writeln!(out, "{}", Value::from(list)).and_then(|()| out.flush());
        written(printed.map(|()| DONE))?;
    }
    Ok(code)
}

fn complain(error: &Error, talk: &mut dyn Write) -> io::Result<u8> {
    writeln!(talk, "error: {}", visible::lines(&error.to_string()))?;
    for hint in &error.hints {
        writeln!(talk, "hint: {}", visible::lines(hint))?;
    }
    Ok(DONE)
}

fn tell(file: &Path, outcome: &Outcome, out: &mut dyn Write) -> io::Result<u8> {
    let shown = file.display().to_string();
    let file = visible::line(&shown);
    match outcome {
        Outcome::There { id } => writeln!(out, "{id}  was imported before from {file}; --force does it again")?,
        Outcome::Empty => writeln!(out, "{file}: nothing was said in it")?,
        Outcome::Made { id, path: _, taken } => {
            let Taken { whole, left_out, broken } = taken.as_ref();
            let from = &whole.imported.from;
            writeln!(out, "{id}  {} from {from}: {file}", count(whole.lines.len() as u64, "message"))?;
            for (kind, number) in left_out {
                writeln!(out, "    {} of kind {:?} left out", count(*number, "record"), visible::line(kind))?;
            }
            if *broken > 0 {
                writeln!(out, "    {} could not be read", count(*broken as u64, "damaged line"))?;
            }
        }
    }
    out.flush()?;
    Ok(DONE)
}

fn outcome_json(file: &Path, outcome: &Outcome) -> Value {
    let file = file.display().to_string();
    match outcome {
        Outcome::There { id } => json!({"file": file, "id": id, "status": "there"}),
        Outcome::Empty => json!({"file": file, "id": null, "status": "empty"}),
        Outcome::Made { id, path, taken } => {
            let Taken { whole, left_out, broken } = taken.as_ref();
            json!({
                "file": file, "id": id, "status": "imported", "path": path.display().to_string(),
                "from": whole.imported.from, "messages": whole.lines.len(), "left_out": left_out, "damaged": broken,
            })
        }
    }
}
