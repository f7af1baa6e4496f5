//! Material and cuts against random conversations.

use std::sync::Arc;

use proptest::prelude::*;

use super::place::cut;
use super::*;
use crate::base::json::Object;
use crate::model::message::{Assistant, AssistantPart, ToolCall, ToolInput};
use crate::model::reply::StopReason;

/// As a user has them who set nothing.
pub fn settings() -> Settings {
    Settings {
        auto: true,
        reserve_tokens: 16_384,
        keep_tokens: 20_000,
        system: "Summarise.".into(),
        plan_tool: Some("update_plan"),
    }
}

/// An answer with this text and calls of these ids.
pub fn answer(text: &str, calls: &[&str]) -> Message {
    let call = |id: &&str| {
        let input = ToolInput::Object(Object::from_iter([("path".to_owned(), "a.rs".into())]));
        AssistantPart::ToolUse(ToolCall { id: (*id).to_owned(), name: "read_file".to_owned(), input })
    };
    let text = (!text.is_empty()).then(|| AssistantPart::Text(text.to_owned()));
    Message::Assistant(Assistant {
        content: text.into_iter().chain(calls.iter().map(call)).collect(),
        origin: Arc::new(Origin { provider: "p".into(), model: "m".into() }),
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    })
}

/// The results of these calls.
pub fn results(results: &[(&str, &str)]) -> Message {
    Message::Tool(results.iter().map(|(id, text)| ToolResult::text(*id, *text, false)).collect())
}

#[test]
fn a_summary_is_found_again() {
    let told = stand_in(Some("<environment>"), "# Goal\nx\n");
    assert_eq!(summary_of(&told), Some("# Goal\nx\n"));
    assert_eq!(summary_of(&stand_in(None, "")), Some(""));
    for other in [Message::user("<summary>\nx\n</summary>"), answer("x", &[]), Message::User(Vec::new())] {
        assert_eq!(summary_of(&other), None);
    }
}

#[test]
fn long_results_become_stubs() {
    let long = "é".repeat(2_001);
    let Some(Message::Tool(short)) = pruned(&results(&[("a", &long), ("b", "short")])) else { panic!() };
    assert_eq!((short[0].call_id.as_str(), &short[1]), ("a", &ToolResult::text("b", "short", false)));
    assert_eq!(
        short[0].content,
        [Part::Text(
            "[2,001 characters of output were left out to save space; repeat the call if they are needed]".into()
        )]
    );
    assert_eq!(pruned(&Message::Tool(short)), None, "once is enough");
    assert_eq!(pruned(&results(&[("a", &"x".repeat(2_000))])), None);
    assert_eq!(pruned(&Message::user(long)), None);
}

#[test]
fn material_names_who_said_what() {
    let messages = [
        stand_in(Some("the time"), "it began"),
        Message::user("mend it"),
        answer("looking", &["a"]),
        results(&[("a", &"line\n".repeat(1_000))]),
    ]
    .map(Arc::new);
    let text = Material::of(&messages, Some("mind the tests".into())).text(usize::MAX);
    insta::assert_snapshot!(text.replace("line\n", "").trim(), @r#"
    <conversation>
    [Earlier handover]
    it began

    [Person]
    mend it

    [Agent]
    looking

    [Agent calls read_file]
    {"path":"a.rs"}

    [Result]

    [… 3000 characters …]


    </conversation>

    Write the handover. The person asks of it: mind the tests
    "#);
}

#[test]
fn the_oldest_gives_way_first_and_an_earlier_summary_last() {
    let mut messages = vec![Arc::new(stand_in(None, &"earlier ".repeat(50)))];
    for number in 0..40 {
        messages.push(Arc::new(Message::user(format!("question {number} {}", "w ".repeat(300)))));
        messages.push(Arc::new(answer("", &["a"])));
        messages.push(Arc::new(results(&[("a", &format!("result {number} {}", "r ".repeat(900)))])));
    }
    let material = Material::of(&messages, None);
    let whole = material.text(usize::MAX).len();
    for budget in [whole, 60_000, 30_000, 12_000, 4_000, 1_000, 300, 0] {
        let text = material.text(budget);
        assert!(text.len() <= budget + 400, "{budget}: {}", text.len());
        assert!(text.contains("[Earlier handover]\nearlier") || budget < 1_000, "{budget}");
    }
    let tight = material.text(4_000);
    assert!(
        tight.contains("question 39")
            && !tight.contains("question 0 ")
            && tight.contains("older messages are left out")
    );
}

#[test]
fn a_request_fits_who_is_asked() {
    let messages = [Arc::new(Message::user("x".repeat(100_000)))];
    let material = Arc::new(Material::of(&messages, None));
    let summons = Summons { system: "s".into(), material, token_chars: 4_000, most: None, answer: 8_192 };
    let size = |request: Request| match request.messages[0].as_ref() {
        Message::User(parts) => match &parts[0] {
            Part::Text(text) => (text.len(), request.options.max_tokens),
            Part::Image(_) => panic!(),
        },
        Message::Assistant(_) | Message::Tool(_) => panic!(),
    };
    assert!(size(summons.request(None, None)).0 > 100_000);
    let (bytes, answer) = size(summons.request(Some(16_000), Some(4_000)));
    assert!((42_000..45_000).contains(&bytes) && answer == Some(4_000), "{bytes}");
    assert!(size(summons.request(Some(100), None)).0 < 3_000);
    let cramped = Summons { most: Some(2_000), ..summons };
    assert!(size(cramped.request(Some(16_000), None)).0 < 9_000);
}

/// Conversations as they come about: rounds of calls, people who speak at any time, results that are missing.
fn conversations() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let message = prop_oneof![
        3 => (0..3_usize).prop_map(|size| vec![Message::user("w".repeat(size * 400 + 1))]),
        3 => (1..4_usize, 0..3_usize, any::<bool>(), any::<bool>()).prop_map(|(calls, size, whole, steered)| {
            let ids: Vec<String> = (0..calls).map(|number| format!("c{number}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let text = "r".repeat(size * 3_000);
            let answered: Vec<(&str, &str)> =
                ids.iter().take(if whole { calls } else { calls - 1 }).map(|id| (*id, text.as_str())).collect();
            let mut round = vec![answer("t", &ids)];
            if !answered.is_empty() {
                round.push(results(&answered));
            }
            if steered {
                round.push(Message::user("mind that"));
            }
            round
        }),
        2 => (0..3_usize).prop_map(|size| vec![answer(&"a".repeat(size * 400 + 1), &[])]),
        1 => Just(vec![results(&[("lost", "x")])]),
    ];
    proptest::collection::vec(message, 0..14).prop_map(|rounds| rounds.into_iter().flatten().map(Arc::new).collect())
}

fn weight(message: &Message) -> u64 {
    match message {
        Message::Tool(results) => results.iter().map(|result| chars(&result.content) as u64).sum(),
        Message::User(parts) => chars(parts) as u64,
        Message::Assistant(answer) => answer.text().len() as u64 + 1,
    }
}

proptest! {
    #[test]
    fn a_cut_never_parts_a_call_from_its_result(
        messages in conversations(), keep in 0..6_000_u64, more in 0..6_000_u64
    ) {
        let most = keep + more;
        let place = cut(&messages, weight, keep, most);
        let (before, after) = messages.split_at(place);
        prop_assert!(!matches!(after.first().map(Arc::as_ref), Some(Message::Tool(_))));
        // What stands behind the cut belongs to answers behind it: taken alone it is what it is within the whole.
        // A person comes first in each, so that nobody has to be put there.
        let first = [Arc::new(Message::user("first"))];
        let legal = |messages: &[Arc<Message>]| crate::kernel::history::legal(&[&first, messages].concat()).len() - 1;
        prop_assert_eq!(legal(before) + legal(after), legal(&messages));
        let kept: u64 = after.iter().map(|message| weight(message)).sum();
        prop_assert!(kept <= most);
        prop_assert!(keep > 0 || after.is_empty());
    }

    #[test]
    fn material_always_fits(messages in conversations(), budget in 0..20_000_usize) {
        let text = Material::of(&messages, None).text(budget);
        prop_assert!(text.len() <= budget + 400, "{} for {budget}", text.len());
        prop_assert!(text.ends_with("Write the handover."));
    }
}
