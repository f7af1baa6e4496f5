//! What a run of the program came to, and what its output says.

use std::time::Duration;

use serde_json::Value;

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// 128 + N, if signal N ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub time: Duration,
}

impl Run {
    /// The run, which must have exited with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let Self { code: actual, stdout, stderr, .. } = &self;
        assert_eq!(*actual, code, "exit code\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
        self
    }

    /// The run, which must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// The run, of which all three must be so: exit code and stdout exactly, and stderr holding each of these texts.
    #[track_caller]
    pub fn is(self, code: i32, stdout: &str, stderr: &[&str]) -> Self {
        let run = self.exits(code);
        assert_eq!(run.stdout, stdout, "stdout\n--- stderr\n{}", run.stderr);
        run.says(stderr)
    }

    /// The run, whose stderr must hold each of these texts, in any case.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        let stderr = self.stderr.to_lowercase();
        for text in texts {
            assert!(stderr.contains(&text.to_lowercase()), "{text:?} is not in stderr:\n{}", self.stderr);
        }
        self
    }

    /// stdout as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("stdout is no JSON: {error}\n{self:?}"))
    }

    /// stdout as events, one a line.
    #[track_caller]
    pub fn all_events(&self) -> Vec<Value> {
        let event = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(event["type"].is_string(), "an event without a type: {line}");
            event
        };
        self.stdout.lines().map(event).collect()
    }

    /// The events of one type.
    #[track_caller]
    pub fn events(&self, kind: &str) -> Vec<Value> {
        self.all_events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The notices of one code.
    #[track_caller]
    pub fn notices(&self, code: &str) -> Vec<Value> {
        self.events("notice").into_iter().filter(|notice| notice["code"] == code).collect()
    }

    /// The last event, which must be the only result.
    #[track_caller]
    pub fn result(&self) -> Value {
        let mut events = self.all_events();
        let results = events.iter().filter(|event| event["type"] == "result").count();
        let last = events.pop().unwrap_or_else(|| panic!("nothing on stdout: {self:?}"));
        assert!(last["type"] == "result" && results == 1, "{results} results, and at the end {last}\n{}", self.stderr);
        last
    }

    /// All deltas, joined.
    #[track_caller]
    pub fn streamed(&self) -> String {
        joined(&self.events("delta"))
    }
}

/// The texts of events, joined.
fn joined(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["text"].as_str()).collect()
}
