//! Drafts and what they mean.

use super::*;
use proptest::prelude::*;

/// A draft that was typed, in short.
fn meaning(text: &str) -> String {
    meant(text, text.len())
}

fn meant(text: &str, typed: usize) -> String {
    match classify(text, typed) {
        Meaning::Say => "say".to_owned(),
        Meaning::Command(command, "") => command.name.to_owned(),
        Meaning::Command(command, argument) => format!("{} <{argument}>", command.name),
        Meaning::Wrong(error) => error,
        Meaning::Unknown { name, suggestion } => unknown(name, suggestion),
        Meaning::Shell(Shell { line, share }) => format!("{} <{line}>", if share { "shared" } else { "unseen" }),
    }
}

#[test]
fn drafts_mean_what_they_look_like() {
    for (draft, expected) in [
        ("", "say"),
        ("hello", "say"),
        ("/help", "help"),
        ("/HELP  ", "help"),
        ("/exit\n", "exit"),
        ("/quit", "exit"),
        ("/q", "exit"),
        ("/учше", "exit"),
        ("/йгше", "exit"),
        ("/й", "exit"),
        ("/Й", "exit"),
        ("/выход", "exit"),
        (".учше", "exit"),
        (".й", "exit"),
        (".рудз", "say"),
        (".", "say"),
        ("/рудз", "help"),
        ("/theme dark", "theme <dark>"),
        ("/resume  20261130 ", "resume <20261130>"),
        ("/effort", "effort"),
        ("/effort HIGH", "effort <high>"),
        ("/effort hihg", "/effort: no `hihg`; did you mean high? one of off, minimal, low, medium, high"),
        ("/permissions everything", "/permissions: no `everything`; one of all, write, safe, none, ask"),
        ("/new now", "/new takes no argument; send /new without `now`"),
        ("/hepl", "unknown command /hepl; did you mean /help? /help lists them, a space before it sends it as text"),
        (
            "/sess",
            "unknown command /sess; did you mean /sessions? /help lists them, a space before it sends it as text",
        ),
        ("/x\u{1b}", "unknown command /x␛; /help lists them, a space before it sends it as text"),
        ("/", "/ begins a command; /help lists them"),
        ("/ is full", "say"),
        (" /help", "say"),
        ("/usr/bin/x crashes", "say"),
        ("//help", "say"),
        ("/help\n/usr", "/help takes no argument; send /help without `/usr`"),
        ("!ls -l", "shared <ls -l>"),
        ("! ls\npwd", "shared <ls\npwd>"),
        ("!!ls", "unseen <ls>"),
        ("!", "say"),
        ("!! ", "say"),
        ("!!!", "unseen <!>"),
        ("wait!ls", "say"),
    ] {
        assert_eq!(meaning(draft), expected, "{draft:?}");
    }
}

#[test]
fn what_was_pasted_commands_nothing() {
    assert_eq!(meant("/help", 0), "say");
    assert_eq!(meant("!rm -rf x", 0), "say");
    assert_eq!(meant("/help me", 1), "say", "only the slash was typed");
    assert_eq!(meant("/help", 3), "say");
    assert_eq!(meant("/resume 2026", 8), "resume <2026>", "an argument may be pasted");
    assert_eq!(meant("!ls", 1), "shared <ls>");
}

#[test]
fn the_table_is_sound() {
    let names: Vec<_> = COMMANDS.iter().flat_map(Slash::names).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(!name.is_empty() && !name.contains(char::is_whitespace) && !name.contains('/'), "{name}");
        assert_eq!(*name, name.to_lowercase());
        assert!(!names[..at].contains(name), "{name} twice");
    }
    for command in COMMANDS {
        assert_eq!(find(command.name), Some(command));
        assert!(command.help.len() <= 50 && !command.help.ends_with('.'), "{}", command.help);
    }
}

#[test]
fn the_help_is_aligned() {
    insta::assert_snapshot!(help(&[("enter", "send"), ("shift-enter", "a new line"), ("esc", "stop")]).join("\n"), @"
    /help                commands and keys
    /new                 begin a new session
    /resume [id]         go on with an earlier session
    /sessions            list the sessions of this directory
    /tree [id]           all branches; go on from anywhere
    /fork [id]           go on in a copy of this session
    /name [text]         give this session a name
    /label [text]        put a label on the last answer
    /undo [what]         take back the last turn: files, conversation
    /redo [what]         restore what was taken back
    /export [file]       write the conversation to a file
    /model [id]          choose who answers
    /effort [level]      how hard the model thinks
    /permissions [mode]  what is done without asking
    /plan                only look and plan, or work again
    /tools               tools the model can call
    /context [all]       what the model is sent, and what takes how much
    /compact [instructions]  summarise the beginning of the conversation
    /rules               instructions that are sent, and why
    /init [wishes]       write instructions for this project
    /remember [text]     keep something for later sessions
    /memory [whose]      open what is remembered
    /skills              what /skill:NAME can load
    /chains              what /chain can run
    /chain [name task]   run a chain
    /agents              sub-agents of this session
    /jobs [stop id]      jobs and services; stop one
    /cost                tokens and money: last turn, session, today
    /copy                copy the last answer as it was written
    /clear               clear the screen; the conversation goes on
    /config [key]        settings and where they come from
    /theme [name]        choose the colours
    /keys                all keys
    /doctor              what does not work, and the fix
    /exit                leave
    !command             run a shell line and show it to the model
    !!command            run it unseen
    @path                attach a file

    enter                send
    shift-enter          a new line
    esc                  stop
    ");
    assert_eq!(find("effort").unwrap().usage(), "/effort [off|minimal|low|medium|high]");
}

proptest! {
    #[test]
    fn any_draft_means_something(text in "[/!.]{0,2}[\\PC\\pC]{0,12}", typed in 0usize..20) {
        meant(&text, typed.min(text.len()));
    }

    #[test]
    fn a_second_slash_in_the_first_word_is_text(before in "[a-z]{0,6}", after in "[a-z /]{0,10}") {
        prop_assert_eq!(meaning(&format!("/{before}/{after}")), "say");
    }
}
