//! Tests of stored conversations on the screen.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::front::repl::view::testing::{assert_committed, look, object, picture, text};
use crate::kernel::loop_guard::Alarm;
use crate::model::message::{Image, Origin, Reasoning};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::prompt::{self, Facts, Mode};

fn prose(text: &str) -> Vec<Block> {
    crate::front::repl::view::markdown::render(text, &look(80))
}

fn agent(content: Vec<AssistantPart>) -> Message {
    let origin = Arc::new(Origin { provider: "p".into(), model: "m".into() });
    Message::Assistant(Assistant { content, origin, stop: StopReason::Stop, usage: Usage::default() })
}

fn bash(id: &str, command: &str) -> AssistantPart {
    let input = ToolInput::Object(object(json!({"command": command})));
    AssistantPart::ToolUse(ToolCall { id: id.into(), name: "execute_bash".into(), input })
}

fn surroundings() -> String {
    prompt::environment(&Facts {
        cwd: "/home/ada".into(),
        os: "linux",
        arch: "x86_64",
        shell: None,
        git: None,
        date: "2026-11-30, Monday".into(),
        mode: Mode::Interactive,
    })
}

fn talk() -> Vec<Arc<Message>> {
    let file = "<file path=\"notes.md\">\nsome <file path=\"x\">\n</file>";
    let messages = [
        Message::User(vec![
            Part::Text(surroundings()),
            Part::Text(file.into()),
            Part::Text("run the tests\nplease".into()),
        ]),
        agent(vec![
            AssistantPart::Reasoning(Reasoning { text: "hm".into(), ..Reasoning::default() }),
            AssistantPart::Text("First this.\n\nThen that.".into()),
            bash("c1", "make test"),
            bash("c2", "make lost"),
        ]),
        Message::Tool(vec![ToolResult::text("c1", "all green\nexit code: 0", false)]),
        agent(vec![AssistantPart::Text("All green.".into())]),
        Message::User(vec![
            Part::Text("and this?".into()),
            Part::Image(Image { media_type: "image/png".into(), data: Arc::from([1_u8].as_slice()) }),
        ]),
    ];
    messages.map(Arc::new).into()
}

fn shown(messages: &[Arc<Message>], most_lines: usize) -> String {
    let lines = tail(messages, most_lines, &look(60), &prose, &|_| Vec::new()).concat();
    assert_committed(&lines);
    picture(&lines)
}

#[test]
fn a_talk_looks_as_it_did() {
    insta::assert_snapshot!(shown(&talk(), 100), @r"
    |› run the tests
    |  please
    |  [attached notes.md]
    |
    |  First this.
    |
    |  Then that.
    |
    |  ∙ bash    make test                               exit 0
    |      all green
    |  ∙ bash    make lost                              stopped
    |
    |  All green.
    |
    |› and this?
    |  [picture: image/png]
    ");
}

#[test]
fn pictures_stand_where_they_were_put() {
    let image = || Part::Image(Image { media_type: "image/png".into(), data: [0, 1].into() });
    let text = |text: &str| Part::Text(text.to_owned());
    let parts = vec![
        text("<environment>\nhere\n</environment>"),
        text("why is [picture 1: a.png 2×2]"),
        image(),
        text(" not [picture 2: clipboard 3×3]"),
        image(),
        text("?"),
        image(),
    ];
    insta::assert_snapshot!(shown(&[Arc::new(Message::User(parts))], 100), @"
    |› why is [picture 1: a.png 2×2] not [picture 2: clipboard 3×3]?
    |  [picture: image/png]
    ");
}

#[test]
fn of_a_long_talk_the_end_is_shown() {
    insta::assert_snapshot!(shown(&talk(), 5), @r"
    |  … 3 earlier messages
    |
    |  All green.
    |
    |› and this?
    |  [picture: image/png]
    ");
    let many: Vec<_> = std::iter::repeat_n(talk(), 20_000).flatten().collect();
    let lines = tail(&many, 50, &look(80), &prose, &|_| Vec::new()).concat();
    assert!(lines.len() <= 52, "{}", lines.len());
    assert_eq!(tail(&[], 50, &look(80), &prose, &|_| Vec::new()), Vec::<Block>::new());
}

#[test]
fn surroundings_in_the_text_itself_are_left_out_too() {
    let opened = Message::user(format!("{}\n\nhello", surroundings()));
    assert_eq!(shown(&[Arc::new(opened)], 9), "|› hello");
    let told = Message::user("a <environment>\nx\n</environment> and <file path=\"y\"> stay");
    assert!(shown(&[Arc::new(told)], 9).contains("</environment> and <file path=\"y\"> stay"));
}

#[test]
fn what_nobody_said_is_not_put_into_the_persons_mouth() {
    for alarm in [Alarm::Note, Alarm::Warning, Alarm::End] {
        let shown = shown(&[Arc::new(Message::user(alarm.message()))], 9);
        assert_eq!(shown, "|  ! the model repeats itself, and was told so");
    }
}

proptest! {
    #[test]
    fn any_talk_can_be_shown(texts in proptest::collection::vec("(\\PC|\\pC|[\n]|<file path=\"|\">\n|\n</file>){0,20}", 0..8), most in 0usize..20) {
        let messages: Vec<_> = texts.iter().enumerate().map(|(number, text)| Arc::new(match number % 3 {
            0 => Message::user(text.clone()),
            1 => agent(vec![AssistantPart::Text(text.clone()), bash("c1", text)]),
            _ => Message::Tool(vec![ToolResult::text("c1", text.clone(), true)]),
        })).collect();
        let lines = tail(&messages, most, &look(40), &prose, &|_| Vec::new()).concat();
        prop_assert!(lines.len() <= most + 2);
        let blanks = lines.windows(2).filter(|pair| pair.iter().all(|line| line.spans.is_empty()));
        prop_assert_eq!(blanks.count(), 0);
    }
}

#[test]
fn reasoning_stands_before_the_answer_and_own_commands_are_no_words_of_the_person() {
    let own = Part::Text(format!("{OWN_COMMAND}ls -l\n\na\nb"));
    let reasoning = Reasoning { text: "let me see".into(), ..Reasoning::default() };
    let messages = [
        Arc::new(Message::User(vec![own, Part::Text("and now?".into())])),
        Arc::new(agent(vec![AssistantPart::Reasoning(reasoning), AssistantPart::Text("done".into())])),
    ];
    let lines = tail(&messages, 20, &look(80), &prose, &prose).concat();
    assert_eq!(text(&lines), "› and now?\n  [ran ls -l]\n\n  let me see\n\n  done");
}
