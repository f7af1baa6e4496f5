//! What the model reads after a command.

use std::sync::Mutex;
use std::time::Instant;

use super::*;
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::kernel::truncate::fit;

struct Host {
    folder: tempfile::TempDir,
    tool: ExecuteBash,
}

impl Host {
    fn new() -> Self {
        Self::with(&[], |_| {})
    }

    fn with(vars: &[(&str, &str)], change: impl FnOnce(&mut Shell)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut env = Env::real();
        env.vars.extend(vars.iter().map(|(name, value)| (name.into(), value.into())));
        let mut shell = Shell {
            cwd: folder.path().to_owned(),
            env,
            allow_env: Vec::new(),
            key_names: vec!["DEEPSEEK_API_KEY".into()],
            timeout: Duration::from_secs(20),
            max_timeout: Duration::from_secs(30),
            limits: LIMITS,
            output_dir: folder.path().join("data/output"),
            mask: Mask::default(),
            jobs: Jobs::new(folder.path(), Clock::System),
        };
        change(&mut shell);
        Self { folder, tool: ExecuteBash::new(shell).unwrap() }
    }

    fn call(&self, arguments: serde_json::Value) -> Output {
        let serde_json::Value::Object(arguments) = arguments else { panic!("no object") };
        let context = ToolContext {
            call_id: "c1",
            subject: &Subject::Other,
            cancel: &Cancel::new(),
            progress: &|_| {},
            events: &|_| {},
        };
        self.tool.run(&arguments, &context)
    }

    fn text(&self, command: &str) -> String {
        let output = self.call(json!({"command": command}));
        fit(&output, self.tool.spec().limits).text
    }
}

#[test]
fn the_last_line_tells_how_it_ended() {
    let host = Host::new();
    assert_eq!(host.text("echo out; echo err >&2; exit 3"), "out\nerr\nexit code: 3");
    assert_eq!(host.text("true"), "exit code: 0");
    assert_eq!(host.text("printf x"), "x\nexit code: 0");
    assert_eq!(host.text("kill -9 $$"), "killed by signal 9 (SIGKILL)");
    assert_eq!(
        host.text("kill -USR1 $$; sleep 5").split(' ').take(4).collect::<Vec<_>>().join(" "),
        "killed by signal 10"
    );
    assert!(!host.call(json!({"command": "true"})).is_error);
    assert!(host.call(json!({"command": "false"})).is_error);
    let slow = host.call(json!({"command": "echo a; sleep 9", "timeout": 0.2}));
    assert_eq!(
        fit(&slow, LIMITS).text,
        "a\ntimed out after 0.2 s; raise the `timeout` parameter (at most 30) for longer commands"
    );
    assert!(slow.is_error);
}

#[test]
fn a_time_above_the_maximum_is_the_maximum() {
    let host = Host::with(&[], |shell| {
        (shell.timeout, shell.max_timeout) = (Duration::from_millis(50), Duration::from_millis(300));
    });
    for asked in [json!(4), json!(1e300)] {
        let text = fit(&host.call(json!({"command": "sleep 9", "timeout": asked})), LIMITS).text;
        assert!(text.starts_with("timed out after 0.3 s, the most that the `timeout` parameter allows"), "{text}");
    }
}

#[test]
fn bad_arguments_are_explained() {
    let host = Host::new();
    let complaint = |arguments: serde_json::Value| host.tool.subject(arguments.as_object().unwrap()).unwrap_err();
    assert!(complaint(json!({})).contains("command"));
    assert!(complaint(json!({"command": " \n"})).contains("empty"));
    assert!(complaint(json!({"command": "a\0b"})).contains("NUL"));
    for timeout in [json!(0), json!(-1)] {
        assert!(complaint(json!({"command": "x", "timeout": timeout})).contains("above 0"));
    }
    assert!(complaint(json!({"command": "x", "cwd": "/"})).contains("cwd"));
    assert!(complaint(json!({"command": "x", "background": "yes"})).contains("job"));
    let arguments = json!({"command": "ls -l", "timeout": null, "background": null});
    assert_eq!(host.tool.subject(arguments.as_object().unwrap()), Ok(Subject::Command("ls -l".into())));
}

#[test]
fn the_end_of_long_output_survives() {
    let host = Host::new();
    let text = host.text(
        "for i in $(seq 0 20000); do echo case $i ok; done; for i in $(seq 2000); do printf '\\rprogress %s' $i; done
         printf '\\n\\033[31mFAILED\\033[0m case 20000\\nassertion: 1 != 2\\n'; exit 1",
    );
    assert!(text.starts_with("case 0 ok\n"));
    assert!(text.ends_with("progress 2000\nFAILED case 20000\nassertion: 1 != 2\nexit code: 1"), "{text}");
    assert!(text.len() < 31_500 && text.lines().count() <= 258);
    let marker = text.lines().find(|line| line.starts_with("[... ")).unwrap();
    let path = marker.split_once("full output: ").unwrap().1.strip_suffix(" ...]").unwrap();
    assert!(std::fs::read_to_string(path).unwrap().contains("\ncase 15000 ok\n"));
}

#[test]
fn limits_are_those_of_the_configuration() {
    let host = Host::with(&[], |shell| shell.limits = Limits { chars: 500, lines: 20 });
    let text = host.text("seq 1 1000");
    assert!(
        text.starts_with("1\n2\n") && text.ends_with("\n1000\nexit code: 0") && text.lines().count() == 22,
        "{text}"
    );
}

#[test]
fn a_disk_that_refuses_costs_only_the_file() {
    let host = Host::with(&[], |shell| shell.output_dir = "/proc/nowhere".into());
    let text = host.text("seq 1 10000");
    assert!(
        text.contains(" omitted (lines ")
            && text.contains("; the full output could not be kept: ")
            && text.ends_with("exit code: 0")
    );
}

#[test]
fn secrets_stay_out_of_reach() {
    let vars = [
        ("FOO_TOKEN", "tok-5d1f0a99"),
        ("DEEPSEEK_API_KEY", "k-deep-0123"),
        ("HARMLESS", "yes"),
        ("DB", "pg://u:hidden@h"),
    ];
    let host = Host::with(&vars, |_| {});
    let text = host.text("env");
    assert!(text.contains("HARMLESS=yes") && text.contains("PATH="));
    assert!(["tok-5d1f0a99", "k-deep-0123", "hidden"].iter().all(|secret| !text.contains(secret)));
    assert!(
        ["DB", "DEEPSEEK_API_KEY", "FOO_TOKEN"].iter().all(|name| host
            .tool
            .withheld()
            .iter()
            .any(|other| other == name))
    );
    let open = Host::with(&vars, |shell| shell.allow_env = vec!["FOO_*".into(), "DEEPSEEK_*".into()]);
    assert_eq!(open.text("echo $FOO_TOKEN$DEEPSEEK_API_KEY"), "tok-5d1f0a99\nexit code: 0");
}

#[test]
fn git_asks_nobody() {
    let host =
        Host::with(&[("GIT_CONFIG_GLOBAL", "/dev/null"), ("EDITOR", "vi"), ("GIT_ASKPASS", "/bin/false")], |_| {});
    let started = Instant::now();
    let init = "git init -q . && git config user.name B && git config user.email b@example.org";
    assert_eq!(host.text(init), "exit code: 0");
    let commit = host.text("git commit --allow-empty");
    assert!(
        commit.contains("Aborting commit due to empty commit message") && commit.ends_with("exit code: 1"),
        "{commit}"
    );
    assert_eq!(host.text("git commit -q --allow-empty -m x && git log --format=%s"), "x\nexit code: 0");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_runs_on_is_named() {
    let host = Host::new();
    let output = host.call(json!({"command": "sleep 61 >/dev/null 2>&1 & echo $! >pid
        until [ \"$name\" = sleep ]; do read name </proc/$!/comm; done; echo up"}));
    let pid = std::fs::read_to_string(host.folder.path().join("pid")).unwrap();
    let pid = pid.trim();
    host.text(&format!("kill {pid}"));
    assert_eq!(output.footer, Some(format!("1 process is still running: {pid} sleep\nexit code: 0")));
    let many: Vec<Process> = (1..8).map(|pid| Process { pid, name: "x".into() }).collect();
    assert_eq!(still_running(&many), "7 processes are still running: 1 x, 2 x, 3 x, 4 x, 5 x and 2 more");
}

#[test]
fn only_a_long_time_is_told() {
    let host = Host::new();
    let footer = |ending, seconds| {
        let finished = Finished { ending, running: Vec::new(), took: Duration::from_secs_f64(seconds) };
        let capture = Capture::new(LIMITS, host.folder.path(), Mask::default());
        host.tool.ended(&finished, capture, Duration::from_secs(12)).footer.unwrap()
    };
    assert_eq!(footer(Ending::Exited(0), 12.34), "took 12.3 s\nexit code: 0");
    assert_eq!(footer(Ending::Exited(0), 10.0), "exit code: 0");
    assert!(footer(Ending::TimedOut, 12.1).starts_with("timed out after 12 s;"));
}

#[test]
fn equal_runs_have_equal_fingerprints() {
    let host = Host::new();
    let print = |command: &str| host.call(json!({"command": command})).fingerprint.unwrap();
    assert_eq!(print("seq 20000"), print("seq 20000; true"));
    assert_eq!(print("echo a; sleep 62 >/dev/null & x=$!; (sleep 0.3; kill $x) >/dev/null 2>&1 &"), print("echo a"));
    assert_ne!(print("echo a"), print("echo a; exit 1"));
    assert_ne!(print("seq 20000"), print("seq 20001"));
}

#[test]
fn text_in_any_script_and_no_script_at_all() {
    let host = Host::new();
    assert_eq!(host.text("echo 終わり | tee '設計 \"x\".md'; cat *.md"), "終わり\n終わり\nexit code: 0");
    assert_eq!(host.text("printf 'caf\\351 \\000x'"), "caf\u{fffd} x\nexit code: 0");
    let family = "👩‍👩‍👧‍👦";
    std::fs::write(host.folder.path().join("out.txt"), format!("x{}", family.repeat(9000))).unwrap();
    let text = host.text("cat out.txt");
    assert!(text.contains(" omitted (lines 1–1 of 1)"));
    let kept: String = text.lines().filter(|line| line.contains(family)).collect();
    assert!(kept.replace(family, "").chars().all(|char| char == 'x'));
}

#[test]
fn progress_is_the_last_line_cleaned() {
    let host = Host::new();
    let seen = Mutex::new(Vec::new());
    let progress = |line: &str| seen.lock().unwrap().push(line.to_owned());
    let context = ToolContext {
        call_id: "c1",
        subject: &Subject::Other,
        cancel: &Cancel::new(),
        progress: &progress,
        events: &|_| {},
    };
    let arguments = json!({"command": "printf 'a\\r\\033[1mb'; sleep 0.4; echo"});
    host.tool.run(arguments.as_object().unwrap(), &context);
    assert_eq!(seen.into_inner().unwrap(), ["b"]);
}

#[test]
fn the_description_is_short() {
    assert!(Host::new().tool.spec().description.len() <= 700);
}
