//! The commands against folders and files of their own.

use super::Form;
use super::config::Action;
use super::*;
use crate::base::cancel::Cancel;
use crate::base::clock::Clock;
use crate::base::env::Env;
use crate::product::auth::secret::Secret;
use crate::product::config::Flags;
use crate::product::error::Kind;
use std::fs;

/// What a command wrote, and its outcome.
struct Ran {
    code: Result<u8, Error>,
    out: String,
    err: String,
}

fn world() -> (tempfile::TempDir, Env) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("work")).unwrap();
    let mut env = Env { cwd: root.join("work"), home: Some(root.clone()), ..Env::default() };
    env.vars.insert("VIOLA_CONFIG_DIR".into(), root.join("config").into());
    env.vars.insert("VIOLA_DATA_DIR".into(), root.join("data").into());
    (folder, env)
}

fn write_config(env: &Env, content: &str) -> std::path::PathBuf {
    let path = env.home.as_ref().unwrap().join("config/config.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn ran(run: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> Result<u8, Error>) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&mut out, &mut err);
    Ran { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

fn configure(env: &Env, action: &Action) -> Ran {
    ran(|out, err| config::run(action, env, &Flags::default(), out, err))
}

fn set(env: &Env, key: &str, value: &str) -> Ran {
    configure(env, &Action::Set { key: key.into(), value: value.into() })
}

fn get(env: &Env, key: &str) -> Ran {
    configure(env, &Action::Get { key: key.into(), form: Form::Text })
}

fn show(env: &Env, key: Option<&str>, form: Form) -> Ran {
    configure(env, &Action::Show { key: key.map(str::to_owned), form })
}

#[test]
fn set_and_get_keep_the_rest() {
    let (_folder, env) = world();
    let path = write_config(&env, r#"{"temperature": 0.25, "bash": {"env": ["A"]}, "model": "m"}"#);
    assert_eq!(set(&env, "bash.timeout", "45").code.unwrap(), DONE);
    assert_eq!(set(&env, "tools.disabled", "a,b").code.unwrap(), DONE);
    assert_eq!(set(&env, "providers.x.api_key", "k-secret").code.unwrap(), DONE);
    assert_eq!(set(&env, "temperature", "null").code.unwrap(), DONE);
    let text: String = fs::read_to_string(&path).unwrap().split_whitespace().collect();
    let expected = r#"{"bash":{"env":["A"],"timeout":45},"model":"m","tools":{"disabled":["a","b"]},"providers":{"x":{"api_key":"k-secret"}}}"#;
    assert_eq!(text, expected);
    assert_eq!(get(&env, "bash.timeout").out, "45\n");
    let bash: serde_json::Value = serde_json::from_str(&get(&env, "bash").out).unwrap();
    assert_eq!(bash, serde_json::json!({"timeout": 45, "max_timeout": 600, "env": ["A"]}));
    assert!(!get(&env, "providers").out.contains("k-secret"));
    let unset = get(&env, "temperature");
    assert_eq!((unset.code.unwrap(), unset.out.as_str()), (NO, ""));
    let mut above = env.clone();
    above.vars.insert("VIOLA_BASH__TIMEOUT".into(), "9".into());
    assert!(set(&above, "bash.timeout", "46").out.contains("VIOLA_BASH__TIMEOUT overrides it"));
}

#[test]
fn what_cannot_be_set_leaves_the_file_alone() {
    let (_folder, env) = world();
    let path = write_config(&env, r#"{"bash": 3}"#);
    for (key, value, named) in [
        ("max_turn", "5", "max_turn"),
        ("max_turns", "many", "whole number"),
        ("bash", "5", "bash"),
        ("bash.timeout", "5", "no object"),
        ("permissions.mode", "sometimes", "write"),
    ] {
        let error = set(&env, key, value).code.unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.message.contains(named), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap().split_whitespace().collect::<String>(), r#"{"bash":3}"#);
    fs::write(&path, "{\n oops").unwrap();
    assert!(set(&env, "max_turns", "5").code.unwrap_err().message.contains("config.json:2:2: "));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n oops");
}

#[test]
fn show_names_each_values_origin_and_no_secret() {
    let (_folder, mut env) = world();
    let secrets = r#"{"temperature": 0.25, "providers": {"x": {"api_key": "k-secret", "headers": {"A": "k-secret"}}}}"#;
    let path = write_config(&env, secrets);
    fs::write(env.cwd.join(".viola.json"), r#"{"model": "project-model"}"#).unwrap();
    env.vars.insert("VIOLA_TIMEOUT".into(), "77".into());
    env.vars.insert("VIOLA_API_KEY".into(), "k-secret".into());
    let shown = show(&env, None, Form::Text);
    let has = |words: [&str; 3]| shown.out.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(["max_turns", "100", "default"]) && has(["bash.max_timeout", "600", "default"]), "{}", shown.out);
    assert!(has(["temperature", "0.25", &path.display().to_string()]));
    assert!(has(["model", "project-model", ".viola.json"]));
    assert!(has(["timeout", "77", "environment: VIOLA_TIMEOUT"]));
    assert!(has(["sandbox.mode", "off (not built)", "default"]) && has(["max_cost", "-", "not set"]));
    assert!(has(["ui.theme", "auto", "default"]) && !has(["max_turns", "not built", ""]));
    let json = show(&env, None, Form::Json).out;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["timeout"]["layer"], "environment");
    assert_eq!((&value["hooks"]["built"], value["timeout"].get("built")), (&serde_json::json!(false), None));
    let one = show(&env, Some("temperature"), Form::Text).out;
    assert!(one.contains("says 0.25"));
    for text in [shown.out, json, one] {
        assert!(!text.contains("k-secret"));
    }
    assert!(show(&env, Some("temprature"), Form::Text).code.unwrap_err().hints[0].contains("temperature"));
}

#[test]
fn what_mends_a_configuration_starts_without_one() {
    let (_folder, env) = world();
    let path = write_config(&env, r#"{"max_turn": 5}"#);
    assert_eq!(configure(&env, &Action::Path).out, format!("{}\n", path.display()));
    let shown = show(&env, None, Form::Text);
    assert!(shown.err.contains("max_turn") && shown.err.contains("hint: did you mean `max_turns`?"), "{}", shown.err);
    let flags = Flags { api_key: Some(Secret::new("k-secret")), ..Flags::default() };
    let doctor =
        ran(|out, err| doctor::run(&env, &flags, doctor::Terminal::default(), Form::Text, &Cancel::new(), out, err));
    assert_eq!(doctor.code.unwrap(), NO);
    assert!(
        doctor.err.contains("max_turn") && doctor.out.contains("terminal") && doctor.out.contains("off (not built)")
    );
    assert!(!doctor.out.contains("k-secret"));
}

#[test]
fn doctor_says_what_a_terminal_lacks_and_what_helps() {
    let (_folder, env) = world();
    let told = |vars: &[(&str, &str)]| {
        let mut env = env.clone();
        env.vars.extend(vars.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let terminal = doctor::Terminal { input: true, output: true, size: Some((80, 24)) };
        let ran = ran(|out, err| doctor::run(&env, &Flags::default(), terminal, Form::Text, &Cancel::new(), out, err));
        let (_, terminal) = ran.out.split_once("\nterminal\n").unwrap();
        terminal.split_once("\n\n").unwrap().0.to_owned()
    };
    assert!(told(&[]).contains("export TERM="));
    assert!(told(&[("TERM", "dumb")]).contains("TERM=dumb promises nothing"));
    assert!(told(&[("TERM", "xterm"), ("LC_ALL", "C")]).contains("export LC_ALL=C.UTF-8"));
    assert!(told(&[("TERM", "xterm-256color")]).contains("export COLORTERM=truecolor"));
    let tmux = told(&[("TERM", "tmux-256color"), ("TMUX", "/x"), ("SSH_TTY", "/y")]);
    assert!(tmux.contains("in tmux, over ssh") && tmux.contains("extended-keys") && tmux.contains("allow-passthrough"));
    let whole = told(&[("TERM", "xterm-kitty"), ("LANG", "C.UTF-8")]);
    assert!(whole.contains("xterm-kitty (kitty)") && whole.contains("true colour") && whole.contains("wrapped anew"));
    assert!(!whole.contains("export") && !whole.contains("tmux"), "nothing is lacking: {whole}");
    assert!(!told(&[("TERM", "x\u{1b}[2J")]).contains('\u{1b}'));
}

#[test]
fn init_makes_a_file_that_loads_and_keeps_one_that_is_there() {
    let (_folder, env) = world();
    assert!(configure(&env, &Action::Init).out.starts_with("made "));
    assert!(crate::product::config::load(&env, &Flags::default()).is_ok());
    set(&env, "model", "mine").code.unwrap();
    assert!(configure(&env, &Action::Init).out.starts_with("left as it is"));
    assert_eq!(get(&env, "model").out, "mine\n");
}

#[test]
fn trust_shows_asks_and_remembers() {
    let (_folder, env) = world();
    let flags = Flags::default();
    let ask = |answer: &str| {
        let mut input = answer.as_bytes();
        ran(|out, _| trust::run(None, &env, &flags, Clock::Fixed(1), &mut input, out))
    };
    assert!(ask("").out.contains("nothing that needs trust"));
    fs::write(
        env.cwd.join(".viola.json"),
        "{\"permissions\": {\"mode\": \"all\"}, \"base_url\": \"http://x\u{1b}]0;\u{202e}\"}",
    )
    .unwrap();
    assert!(ask("").out.contains("nothing that needs trust"), "a raw escape is no JSON");
    fs::write(
        env.cwd.join(".viola.json"),
        "{\"permissions\": {\"mode\": \"all\"}, \"base_url\": \"http://x\u{9b}\u{202e}\"}",
    )
    .unwrap();
    for no in ["", "n\n", "Y E S\n", "\n", "ja\n"] {
        let ran = ask(no);
        assert_eq!(ran.code.unwrap(), NO, "{no:?}");
        assert!(ran.out.contains("permissions.mode: \"all\"") && ran.out.contains("base_url"));
        assert!(!ran.out.contains('\u{9b}') && !ran.out.contains('\u{202e}'));
    }
    assert_eq!(ask("y\n").code.unwrap(), DONE);
    assert!(ask("").out.contains("is trusted as it stands"));
    fs::write(env.cwd.join(".viola.json"), r#"{"permissions": {"mode": "all"}, "bash": {"env": ["*"]}}"#).unwrap();
    assert!(ask("n\n").out.contains("has changed since you trusted it"));
    let nowhere = ran(|out, _| trust::run(Some("none".as_ref()), &env, &flags, Clock::Fixed(1), &mut &b""[..], out));
    assert_eq!(nowhere.code.unwrap_err().kind, Kind::Usage);
}

#[test]
fn completions_are_written_for_every_shell() {
    use clap::ValueEnum;
    for shell in clap_complete::Shell::value_variants() {
        let command = clap::Command::new("agent").subcommand(clap::Command::new("demo"));
        let script = ran(|out, _| completions::run(*shell, command, out));
        assert!(script.out.contains("agent") && script.out.contains("demo"), "{shell}");
    }
}

#[test]
fn a_reader_that_left_is_no_failure() {
    struct Gone;
    impl io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (_folder, env) = world();
    let action = Action::Show { key: None, form: Form::Text };
    assert_eq!(config::run(&action, &env, &Flags::default(), &mut Gone, &mut Gone).unwrap(), DONE);
}
