//! Tests of what the program and the person say: pictures, and that anything can be said.

use proptest::prelude::*;

use super::*;
use crate::front::repl::view::testing::{assert_committed, look, picture, styled, text};

fn calc() -> Banner {
    Banner {
        version: "0.1".into(),
        model: "claude-sonnet-4-5".into(),
        folder: "~/src/calc".into(),
        branch: Some("main".into()),
    }
}

#[test]
fn the_banner_gives_way_on_narrow_screens() {
    for (width, _) in [(40, ()), (80, ()), (120, ())] {
        assert_eq!(banner(&calc(), &look(width)).len(), 1);
    }
    insta::assert_snapshot!(picture(&banner(&calc(), &look(80))), @"|  viola 0.1 · claude-sonnet-4-5 · ~/src/calc (main)             /help · ctrl-d");
    insta::assert_snapshot!(picture(&banner(&calc(), &look(40))), @"|  viola 0.1 · claude-sonnet-4-5");
    insta::assert_snapshot!(picture(&banner(&calc(), &look(20))), @"|  viola 0.1");
}

#[test]
fn notices_and_failures() {
    let look = look(80);
    let mut block = notice("overloaded, trying again in 4 s (2 of 4)", &look);
    block.extend(notice("folded 41 earlier messages, 96k → 18k tokens\nand more", &look));
    let hints = ["agent auth login openai".to_owned()];
    block.extend(failure("authentication failed: OpenAI refused the key from OPENAI_API_KEY", &hints, &look));
    block.extend(remark("stopped", &look));
    insta::assert_snapshot!(styled(&block), @r"
    {yellow:!} {dim:overloaded, trying again in 4 s (2 of 4)}
    {yellow:!} {dim:folded 41 earlier messages, 96k → 18k tokens}
      {dim:and more}
    {red:✗} {red:authentication failed: OpenAI refused the key from OPENAI_API_KEY}
      {dim:hint: agent auth login openai}
    {dim:stopped}
    ");
}

#[test]
fn a_report_goes_on_below_its_column() {
    let tools = "read_file     safe       Reads a text file, or lists a folder\nexecute_bash  dangerous  Runs a command with bash\n\n\
                 a sentence without columns is the terminal's to wrap, however long it may be\n";
    let shown = |width| {
        let block = report(tools, &look(width));
        assert_committed(&block);
        picture(&block)
    };
    insta::assert_snapshot!(shown(60), @r"
    |  read_file     safe       Reads a text file, or lists a
    |                           folder
    |  execute_bash  dangerous  Runs a command with bash
    |
    |  a sentence without columns is the terminal's to wrap, however long it may be
    ");
    insta::assert_snapshot!(shown(40), @r"
    |  read_file
    |    safe       Reads a text file, or
    |    lists a folder
    |  execute_bash
    |    dangerous  Runs a command with bash
    |
    |  a sentence without columns is the terminal's to wrap, however long it may be
    ");
}

#[test]
fn the_person_is_bold_and_hangs() {
    let look = look(80);
    let pasted = "x".repeat(37) + "\n";
    let draft = Draft {
        pieces: vec![
            Piece::Pasted(pasted.repeat(214)),
            Piece::Typed("  explain this\n\nand\tthat ".into()),
            Piece::Pasted("short".into()),
        ],
    };
    insta::assert_snapshot!(picture(&user(&draft, &look)), @r"
    |› [pasted 214 lines, 8.1 KB]  explain this
    |
    |  and that short
    ");
    assert_eq!(styled(&said("hi", &look)), "{bold:› }{bold:hi}");
    assert_eq!(chip(&"a\n".repeat(10)), None);
    assert_eq!(chip(&"a".repeat(3_000)).as_deref(), Some("[pasted 1 line, 3.0 KB]"));
}

#[test]
fn the_first_start() {
    insta::assert_snapshot!(picture(&first_start(&look(80))), @r"
    |  viola works on the code in this folder, with a model of your choice.
    |  No model can be asked yet. The quickest ways to go on:
    |
    |    agent demo                     watch a small repair; no key, no network
    |    export ANTHROPIC_API_KEY=...   use a key; openai, gemini and others too
    |    ollama serve                   use a model on this machine; it is found
    ");
    insta::assert_snapshot!(picture(&first_start(&look(40))), @r"
    |  viola works on the code in this folder, with a model of your choice.
    |  No model can be asked yet. The quickest ways to go on:
    |
    |    agent demo
    |      watch a small repair; no key, no network
    |    export ANTHROPIC_API_KEY=...
    |      use a key; openai, gemini and others too
    |    ollama serve
    |      use a model on this machine; it is found
    ");
}

proptest! {
    #[test]
    fn anything_can_be_said(words in "(\\PC|\\pC|[\n\t ]){0,60}", width in 0usize..100) {
        let look = look(width);
        let made = Banner { version: words.clone(), model: words.clone(), folder: words.clone(), branch: Some(words.clone()) };
        for block in [
            notice(&words, &look), remark(&words, &look), failure(&words, std::slice::from_ref(&words), &look),
            said(&words, &look), user(&Draft::typed(words.clone()), &look), banner(&made, &look), first_start(&look),
        ] {
            assert_committed(&block);
        }
        prop_assert!(text(&said(&words, &look)).starts_with('›'));
    }
}

#[test]
fn a_report_puts_its_columns_below_each_other_where_they_do_not_fit() {
    let text = "/tools            tools the model can call\n\n/exit  leave\n";
    assert_eq!(
        text_of(&report(text, &look(60))),
        ["  /tools            tools the model can call", "", "  /exit  leave"]
    );
    assert_eq!(text_of(&report(text, &look(30))), ["  /tools", "    tools the model can call", "", "  /exit  leave"]);
}

fn text_of(block: &Block) -> Vec<String> {
    block.iter().map(ToString::to_string).collect()
}
