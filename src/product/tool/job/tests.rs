//! What the model reads of commands in the background.

use super::*;
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::kernel::truncate::fit;
use crate::product::tool::bash::{self, ExecuteBash, Shell};
use std::time::Duration;

struct Host {
    _folder: tempfile::TempDir,
    tools: Vec<Box<dyn Tool>>,
}

impl Host {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::new(folder.path(), Clock::System);
        let output_dir = folder.path().join("output");
        let shell = Shell {
            cwd: folder.path().to_owned(),
            env: Env::real(),
            allow_env: Vec::new(),
            key_names: Vec::new(),
            timeout: Duration::from_secs(20),
            max_timeout: Duration::from_secs(30),
            limits: bash::LIMITS,
            output_dir: output_dir.clone(),
            mask: Mask::default(),
            jobs: jobs.clone(),
        };
        let tools: Vec<Box<dyn Tool>> = vec![
            Box::new(ExecuteBash::new(shell).unwrap()),
            Box::new(JobOutput::new(jobs.clone(), bash::LIMITS, output_dir, Mask::default())),
            Box::new(JobStop::new(jobs)),
        ];
        Self { _folder: folder, tools }
    }

    fn call(&self, name: &str, arguments: &Value) -> Output {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let context = ToolContext {
            call_id: "c1",
            subject: &Subject::Other,
            cancel: &Cancel::new(),
            progress: &|_| {},
            events: &|_| {},
        };
        tool.subject(arguments.as_object().unwrap()).unwrap();
        tool.run(arguments.as_object().unwrap(), &context)
    }

    fn text(&self, name: &str, arguments: &Value) -> String {
        fit(&self.call(name, arguments), bash::LIMITS).text
    }
}

#[test]
fn a_job_from_its_start_to_its_end() {
    let host = Host::new();
    let started = host.text(bash::NAME, &json!({"command": "echo up; sleep 600", "background": "job"}));
    assert_eq!(started, "up\nstarted job j1: it runs on; job_output shows what it prints, job_stop ends it");
    assert_eq!(host.text(OUTPUT, &json!({"id": "j1"})), "up\njob j1: running");
    assert_eq!(host.text(STOP, &json!({"id": "j1"})), "stopped job j1: it and all it started were ended");
    assert_eq!(host.text(STOP, &json!({"id": "j1"})), "job j1 had ended already: stopped");
    assert_eq!(host.text(OUTPUT, &json!({"id": "j1"})), "nothing new was printed\njob j1: stopped");
    let unknown = host.call(OUTPUT, &json!({"id": "j7"}));
    assert!(unknown.is_error && unknown.text.head == "no job j7; there are: j1 (stopped)", "{unknown:?}");
}

#[test]
fn equal_jobs_are_equal_whatever_their_ids() {
    let host = Host::new();
    let start = |command: &str| host.call(bash::NAME, &json!({"command": command, "background": "job"}));
    let (one, two, other) = (start("echo x; exit 2"), start("echo x; exit 2"), start("echo x; exit 3"));
    assert!(one.is_error && one.footer != two.footer);
    assert_eq!(one.footer.as_deref(), Some("started job j1; it has ended already\nexit code: 2"));
    assert!(one.fingerprint == two.fingerprint && one.fingerprint != other.fingerprint);
    let (one, two) = (start("echo $$; sleep 600"), start("echo $$; sleep 600"));
    assert!(one.text != two.text && one.fingerprint == two.fingerprint);
}

#[test]
fn what_is_offered_is_short() {
    let host = Host::new();
    for name in [OUTPUT, STOP] {
        let tool = host.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        let ToolSpec { name, description, parameters, .. } = tool.spec();
        let offer = json!({"name": name, "description": description, "parameters": parameters});
        assert!(offer.to_string().len() < 220, "{}", offer.to_string().len());
    }
}
