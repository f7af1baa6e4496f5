//! Command lines, read: what they mean, and how bad ones are told.

use super::read::{Parsed, asked_format, command, parse};
use super::*;
use crate::product::config::Flag;
use crate::product::error::Error;
use crate::product::error::Kind;
use clap::CommandFactory;
use std::ffi::OsString;

fn read(words: &[&str]) -> Result<Parsed, Error> {
    parse(std::iter::once("agent").chain(words.iter().copied()).map(OsString::from).collect())
}

fn cli(words: &[&str]) -> Cli {
    match read(words).unwrap() {
        Parsed::Run(cli) => *cli,
        Parsed::Show(text) => panic!("{text}"),
    }
}

fn shown(words: &[&str]) -> String {
    match read(words).unwrap() {
        Parsed::Show(text) => text,
        Parsed::Run(cli) => panic!("{cli:?}"),
    }
}

#[test]
fn the_declaration_is_sound() {
    command().debug_assert();
    TaskOnly::command().debug_assert();
}

#[test]
fn with_p_no_word_is_a_command() {
    for words in [
        &["-p", "demo"][..],
        &["demo", "-p"],
        &["-qp", "demo"],
        &["-c", "demo"],
        &["--session", "x", "demo"],
        &["--session=x", "demo"],
        &["--fork", "x", "demo"],
        &["--fork=x", "--at", "3", "demo"],
        &["--print", "sesions"],
    ] {
        let cli = cli(words);
        assert!(cli.command.is_none(), "{words:?}");
        assert_eq!(cli.task.prompt.len(), 1, "{words:?}");
    }
    assert!(matches!(cli(&["demo"]).command, Some(Command::Demo { .. })));
    assert!(matches!(cli(&["-m", "x", "demo"]).command, Some(Command::Demo { .. })));
    assert_eq!(cli(&["-mp", "say", "hi"]).task.model.model.as_deref(), Some("p"), "a value is no switch");
    assert_eq!(cli(&["fix", "demo", "-"]).task.prompt, ["fix", "demo", "-"]);
    assert_eq!(cli(&["-p", "--", "-p"]).task.prompt, ["-p"]);
    assert_eq!(cli(&["-p", "-"]).task.prompt, ["-"]);
}

#[test]
fn a_mistyped_command_is_no_prompt() {
    for (word, meant) in [("sesions", "sessions"), ("confg", "config"), ("docter", "doctor"), ("trusts", "trust")] {
        let error = read(&[word]).unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.hints[0].contains(&format!("agent {meant}")), "{error:?}");
    }
    for prompt in ["hello", "explain", "fix", "do it now", "sesions please"] {
        assert_eq!(cli(&[prompt]).task.prompt, [prompt]);
    }
}

#[test]
fn complaints_are_a_line_and_hints() {
    for (words, named) in [
        (&["--no-such-option"][..], "no-such-option"),
        (&["-p", "--temperature", "hot", "hi"], "temperature"),
        (&["-p", "--output-format", "xml", "hi"], "xml"),
        (&["config", "set", "x"], "<VALUE>"),
        (&["-q", "-v"], "--verbose"),
        (&["--yolo", "--permissions", "safe"], "--permissions"),
    ] {
        let error = read(words).unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert!(error.message.contains(named) && !error.message.contains('\n'), "{}", error.message);
        assert!(error.hints.iter().any(|hint| hint.contains("--help")));
    }
    let error = read(&["-p", "--output-format", "xml"]).unwrap_err();
    assert!(error.hints[0].contains("possible values: text, json, stream-json"), "{:?}", error.hints);
}

#[test]
fn a_bad_line_still_says_which_format_it_wants() {
    let asked = |words: &[&str]| asked_format(&words.iter().map(OsString::from).collect::<Vec<_>>());
    assert_eq!(asked(&["agent", "--output-format", "stream-json", "--max-turns", "x"]), OutputFormat::StreamJson);
    assert_eq!(asked(&["agent", "--nonsense", "--output-format=json"]), OutputFormat::Json);
    for words in [
        &["agent", "--output-format", "xml"][..],
        &["agent", "-p", "--", "--output-format=json"],
        &["agent", "--output-format"],
        &["agent", "hi"],
    ] {
        assert_eq!(asked(words), OutputFormat::Text, "{words:?}");
    }
}

#[test]
fn options_become_settings() {
    let task =
        cli(&["-p", "-m", "a/b", "--timeout", "77", "--temperature", "0.5", "--yolo", "--tools", "x,y", "hi"]).task;
    let flags = task.flags();
    let set: Vec<_> = flags.values.iter().map(|flag| (flag.option, flag.key, flag.value.to_string())).collect();
    let expected = [
        ("--model", "model", "\"a/b\""),
        ("--temperature", "temperature", "0.5"),
        ("--timeout", "timeout", "77"),
        ("--tools", "tools.enabled", "[\"x\",\"y\"]"),
        ("--yolo", "permissions.mode", "\"all\""),
    ];
    assert_eq!(set, expected.map(|(option, key, value)| (option, key, value.to_owned())));
    assert!(cli(&["--dangerously-skip-permissions"]).task.rights.yolo);
    let text = cli(&["-p", "--system-prompt", "@sys.txt", "--api-key", "k-1", "hi"]).task.flags();
    assert_eq!(text.values[0].value, "@sys.txt");
    assert!(!format!("{text:?}").contains("k-1"));
}

#[test]
fn help_and_version() {
    assert_eq!(shown(&["--version"]).lines().count(), 1);
    let help = shown(&["--help"]);
    for word in
        ["-p, --print", "--continue", "--session", "--output-format", "--yolo", "--stdin", "config", "trust", "demo"]
    {
        assert!(help.contains(word), "{word} in {help}");
    }
    let key = help.find("--api-key").unwrap();
    assert!(help[key..key + 200].contains("in ps"), "{}", &help[key..key + 200]);
    assert_eq!(shown(&["-p", "--help"]), help);
    assert!(shown(&["config", "set", "--help"]).contains("null"));
    assert!(shown(&["help", "demo"]).contains("--keep"));
}

#[test]
fn every_option_sets_a_known_key() {
    use crate::product::config::keys::{Place, path, place};
    let words = [
        "-p",
        "--provider",
        "x",
        "-m",
        "x",
        "--base-url",
        "x",
        "--temperature",
        "1",
        "--max-tokens",
        "1",
        "--reasoning-effort",
        "low",
        "--system-prompt",
        "x",
        "--append-system-prompt",
        "x",
        "--max-turns",
        "1",
        "--timeout",
        "1",
        "--max-cost",
        "1",
        "--tools",
        "x",
        "--exclude-tools",
        "x",
        "--permissions",
        "safe",
        "--sandbox",
        "off",
    ];
    let flags = cli(&words).task.flags();
    assert_eq!(flags.values.len(), 15);
    for Flag { key, value, .. } in flags.values {
        let Place::Key(known) = place(&path(key)) else { panic!("{key}") };
        assert_eq!(known.kind.check(&value), Ok(()), "{key}");
    }
}
