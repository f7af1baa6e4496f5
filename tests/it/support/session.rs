//! A session file, read as an outsider would.

use std::path::{Path, PathBuf};
use std::{fs, io::Write};

use serde_json::Value;

/// One session file.
pub struct Session {
    pub path: PathBuf,
    /// The lines that parse.
    pub records: Vec<Value>,
    /// How many do not.
    pub broken: usize,
}

impl Session {
    pub fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let (records, broken): (Vec<_>, Vec<_>) = lines.map(serde_json::from_slice).partition(Result::is_ok);
        let records = records.into_iter().map(Result::unwrap).collect();
        Self { path: path.to_owned(), records, broken: broken.len() }
    }

    /// The name of the file, which is the session's id.
    pub fn id(&self) -> String {
        self.path.file_stem().unwrap().to_str().unwrap().to_owned()
    }

    pub fn header(&self) -> &Value {
        assert_eq!(self.records[0]["type"], "session");
        &self.records[0]
    }

    /// The messages of all roles, in the order of the file.
    pub fn messages(&self) -> Vec<&Value> {
        self.records.iter().filter(|record| record["type"] == "message").collect()
    }

    /// The texts of the messages of one role; parts that are no text are left out.
    pub fn texts(&self, role: &str) -> Vec<String> {
        let of_role = self.messages().into_iter().filter(|message| message["role"] == role);
        let text = |message: &Value| {
            let parts = message["content"].as_array().unwrap().iter();
            parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect()
        };
        of_role.map(text).collect()
    }

    /// Appends bytes to the file, as a crash or a foreign hand would.
    pub fn append(&self, bytes: &str) {
        fs::OpenOptions::new().append(true).open(&self.path).unwrap().write_all(bytes.as_bytes()).unwrap();
    }
}
