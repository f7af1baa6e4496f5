//! The same answer comes of the same script on every wire, however its bytes are cut, and no answer of a broken stream.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::{Part, Script, call, say, say_in, think};
use super::{DIALECTS, Dialect, Fault, Frame, Seen, Stream};
use crate::model::error::{ErrorKind, ModelError};
use crate::model::message::AssistantPart;
use crate::model::provider::compat::Compat;
use crate::model::reply::StopReason;

const ARGUMENTS: &str = r#"{"path": "a \"b\" ü🎻.txt", "lines": [1, -2.5e3, null], "deep": {"x": {}}}"#;

/// What every wire can say: a name, and the script.
fn scripts() -> Vec<(&'static str, Script)> {
    let languages = ["Grüße, ", "天天向上, ", "שלום, مرحبا, ", "👩‍💻 e\u{301}\u{200b}", "\\n \"quoted\"\n\n\ttab"];
    let three = |size| ["z", "a", "m"].map(|name| call(&format!("call_{name}"), name, ARGUMENTS, size));
    let thought = || think("I wonder. 🤔", None);
    let sealed = || think("I wonder. 🤔", Some("SEAL/+=="));
    vec![
        ("text", Script::new([say("Hello.")])),
        ("text in pieces, languages and pictures", Script::new([say_in(languages)])),
        ("reasoning, then text", Script::new([thought(), say("42.")])),
        ("sealed reasoning, then text", Script::new([sealed(), say_in(["4", "2."])])),
        ("sealed reasoning, then a call", Script::new([sealed(), call("call_1", "f", ARGUMENTS, 9)])),
        (
            "sealed reasoning, text, calls",
            Script::new([sealed(), say("Look."), call("call_1", "f", "{}", 9), call("call_2", "g", ARGUMENTS, 9)]),
        ),
        ("sealed reasoning and nothing more", Script::new([sealed()])),
        ("one call", Script::new([call("call_1", "read_file", ARGUMENTS, usize::MAX)])),
        ("one call, letter by letter", Script::new([call("call_1", "read_file", ARGUMENTS, 1)])),
        ("three calls", Script::new(three(7))),
        ("three calls in turns", Script::new(three(3)).interleaved()),
        ("text, then calls", Script::new(std::iter::once(say("Reading.")).chain(three(5)))),
        ("the same call twice", Script::new([call("call_1", "f", "{}", 9), call("call_2", "f", "{}", 9)])),
        ("a call without arguments", Script::new([call("call_1", "now", "", 9)])),
        ("a call of an empty object", Script::new([call("call_1", "now", "{}", 1)])),
        ("no usage", Script::new([say("Hello.")]).usage(None)),
        ("cut by the limit", Script::new([say("Once upon")]).stop(StopReason::Length)),
        ("cut by the limit behind a call", Script::new([call("call_1", "f", "{}", 9)]).stop(StopReason::Length)),
        ("refused in the middle", Script::new([say("I")]).stop(StopReason::Refusal)),
    ]
}

/// What only some wires can say: a name, how many, and the script.
fn rare_scripts() -> Vec<(&'static str, usize, Script)> {
    let cut = || Script::new([say("Writing."), call("call_1", "f", r#"{"path": "a.t"#, 4)]).stop(StopReason::Length);
    let wrong = |arguments| Script::new([call("call_1", "f", arguments, 3)]);
    vec![
        ("a call cut by the limit", 3, cut()),
        ("a call with broken arguments", 3, wrong(r#"{"path": "a.txt""#)),
        ("a call whose arguments are a list", 3, wrong("[1, 2]")),
        ("a call whose arguments are words", 3, wrong("read a.txt")),
        ("the window was full", 2, Script::new([say("Once")]).stop(StopReason::Window)),
        ("paused", 1, Script::new([say("Searching.")]).stop(StopReason::Pause)),
        ("a reason nobody knows", 2, Script::new([say("Once")]).stop(StopReason::Other("tired".to_owned()))),
    ]
}

/// Every script on every wire that has words for it.
fn everywhere() -> Vec<(&'static Dialect, &'static str, Script, Stream)> {
    let mut rows = Vec::new();
    for dialect in DIALECTS {
        for (name, script) in scripts() {
            let stream = (dialect.stream)(&script).unwrap_or_else(|| panic!("{name}: no words on {:?}", dialect.wire));
            rows.push((dialect, name, script, stream));
        }
        for (name, _, script) in rare_scripts() {
            rows.extend((dialect.stream)(&script).map(|stream| (dialect, name, script, stream)));
        }
    }
    rows
}

#[test]
fn every_wire_gives_the_same_answer() {
    for (dialect, name, script, stream) in everywhere() {
        assert_eq!(dialect.run(&stream), dialect.expected(&script), "{name} on {:?}", dialect.wire);
    }
}

#[test]
fn what_is_rare_is_so_on_purpose() {
    for (name, most, script) in rare_scripts() {
        let able = DIALECTS.iter().filter(|dialect| (dialect.stream)(&script).is_some()).count();
        assert!((1..=most).contains(&able), "{name}: {able} wires");
    }
}

#[test]
fn a_refusal_without_a_word_is_one() {
    let script = Script::new([]).stop(StopReason::Refusal);
    for dialect in DIALECTS {
        let seen = dialect.run(&(dialect.stream)(&script).unwrap());
        match seen.reply {
            Ok(reply) => assert_eq!((reply.stop, reply.content), (StopReason::Refusal, vec![]), "{:?}", dialect.wire),
            Err(error) => assert_eq!((error.kind, error.retryable), (ErrorKind::Refused, false), "{:?}", dialect.wire),
        }
    }
}

#[test]
fn seals_are_kept_as_they_came_in_the_end() {
    for (dialect, name, script, stream) in everywhere() {
        let (_, reply) = dialect.read_whole([stream.bytes("\n").as_slice()], &Compat::default());
        let content = reply.unwrap().content;
        let seals = seals(&content);
        assert_eq!(seals, script.seals(), "{name} on {:?}", dialect.wire);
    }
}

/// The seals that an answer keeps; all of them have the word in them.
fn seals(content: &[AssistantPart]) -> Vec<String> {
    let mut found = Vec::new();
    for part in content {
        if let AssistantPart::Reasoning(reasoning) = part {
            found.extend(reasoning.signature.clone());
            reasoning.opaque.iter().for_each(|opaque| strings(opaque, &mut found));
        }
    }
    found.retain(|text| text.contains("SEAL"));
    found
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(object) => object.values().for_each(|item| strings(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn lines_may_end_in_any_way_and_comments_come_between() {
    for (dialect, name, script, stream) in everywhere() {
        let expected = dialect.expected(&script);
        for newline in ["\n", "\r\n", "\r"] {
            let bytes = stream.bytes(newline);
            assert_eq!(dialect.read(bytes.chunks(1)), expected, "{name} on {:?}, {newline:?}", dialect.wire);
        }
        let text = String::from_utf8(stream.bytes("\n")).unwrap();
        let kept_alive = format!("\u{feff}: hello\n\n{}", text.replace("\n\n", "\n\n: keep-alive\n\nretry: 1\n\n"));
        assert_eq!(dialect.read([kept_alive.as_bytes()]), expected, "{name} on {:?}", dialect.wire);
        let unended = text.trim_end();
        assert_eq!(dialect.read([unended.as_bytes()]), expected, "{name} on {:?}", dialect.wire);
    }
}

#[test]
fn deltas_come_as_they_are_written() {
    let script =
        Script::new([Part::Reasoning { pieces: vec!["I ".into(), "see.".into()], seal: None }, say_in(["Ok", "ay"])]);
    for dialect in DIALECTS {
        let stream = (dialect.stream)(&script).unwrap();
        let mut heard = Vec::new();
        let mut decoder = dialect.wire.decoder(&Compat::default());
        for frame in &stream.frames {
            decoder.frame(&frame.data, &mut |delta| heard.push(format!("{delta:?}"))).unwrap();
        }
        assert_eq!(
            heard,
            [r#"Reasoning("I ")"#, r#"Reasoning("see.")"#, r#"Text("Ok")"#, r#"Text("ay")"#],
            "{:?}",
            dialect.wire
        );
    }
}

#[test]
fn an_answer_in_one_piece_is_the_same_answer() {
    let whole = scripts().into_iter().filter(|(name, script)| !name.contains("sealed") && !script.parts.is_empty());
    for (name, script) in whole {
        for dialect in DIALECTS {
            for body in (dialect.whole)(&script) {
                let (seen, _) = dialect.decode(std::iter::once(body.to_string().as_str()), &Compat::default());
                assert_eq!(seen, dialect.expected(&script), "{name} on {:?}: {body}", dialect.wire);
            }
        }
    }
}

#[test]
fn usage_is_found_wherever_it_stands() {
    for dialect in DIALECTS {
        for script in [Script::new([say("Hello.")]), Script::new([call("call_1", "f", "{}", 9)])] {
            for (place, stream) in dialect.usages {
                let stream = stream(&script).unwrap();
                assert_eq!(dialect.run(&stream), dialect.expected(&script), "{place} on {:?}", dialect.wire);
            }
        }
    }
}

#[test]
fn what_nobody_knows_is_passed_over() {
    for (dialect, name, script, stream) in everywhere() {
        for unknown in (dialect.noise)() {
            let between = stream.frames[..stream.end].iter().flat_map(|frame| [unknown.clone(), frame.clone()]);
            let end = [std::slice::from_ref(&unknown), &stream.frames[stream.end..]].concat();
            let noisy = Stream { frames: between.chain(end).collect(), end: 2 * stream.end + 1 };
            let told = format!("{name} on {:?}: {unknown:?}", dialect.wire);
            assert_eq!(dialect.run(&noisy), dialect.expected(&script), "{told}");
        }
        let mut fields = stream.clone();
        for frame in &mut fields.frames {
            if let Ok(mut value) = serde_json::from_str::<Value>(&frame.data) {
                add_field(&mut value);
                frame.data = value.to_string();
            }
        }
        assert_eq!(dialect.run(&fields), dialect.expected(&script), "{name} on {:?}", dialect.wire);
    }
}

/// Puts a field nobody knows into every object but the arguments of calls.
fn add_field(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_field),
        Value::Object(object) => {
            object
                .iter_mut()
                .filter(|(name, _)| !matches!(name.as_str(), "args" | "input"))
                .for_each(|(_, inner)| add_field(inner));
            object.insert("obfuscation".to_owned(), json!({"x": [null, "y"]}));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Nothing came of it; what had been handed out is what the frames up to `end` said.
fn assert_broken(seen: &Seen, kind: ErrorKind, told: &str) -> ModelError {
    let error = seen.reply.as_ref().expect_err(told).clone();
    assert_eq!(error.kind, kind, "{told}: {error}");
    error
}

#[test]
fn a_stream_without_its_end_is_no_answer() {
    for (dialect, name, script, stream) in everywhere() {
        for length in 0..=stream.end {
            let cut = Stream { frames: stream.frames[..length].to_vec(), end: length };
            let seen = dialect.run(&cut);
            let error =
                assert_broken(&seen, ErrorKind::Network, &format!("{name} on {:?}, {length} frames", dialect.wire));
            assert!(error.retryable, "{error}");
            if length == stream.end {
                assert_eq!(seen.deltas, script.expected().deltas, "{name} on {:?}", dialect.wire);
            }
        }
    }
}

#[test]
fn a_fault_inside_the_stream_ends_it() {
    let script = Script::new([think("Hm.", None), say_in(["Once ", "upon"]), call("call_1", "f", ARGUMENTS, 9)]);
    for dialect in DIALECTS {
        let stream = (dialect.stream)(&script).unwrap();
        for fault in Fault::ALL {
            for frames in (dialect.fault)(fault) {
                for place in 0..=stream.end {
                    let mut failing = stream.clone();
                    failing.frames.splice(place.., frames.clone());
                    let told = format!("{fault:?} on {:?} behind {place} frames", dialect.wire);
                    let seen = dialect.run(&failing);
                    let error = assert_broken(&seen, fault.kind(), &told);
                    assert_eq!(error.retryable, matches!(fault, Fault::Overload | Fault::RateLimit), "{told}: {error}");
                    assert!(!error.message.is_empty() && !error.message.contains('\n'), "{told}: {error}");
                    if place == stream.end {
                        assert_eq!(seen.deltas, script.expected().deltas, "{told}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_stream_is_no_answer() {
    let page = "<!doctype html>\n<html><body>log in: here</body></html>\n";
    for dialect in DIALECTS {
        for bytes in [page.as_bytes(), b"", b"\n\n", b"data: \n\n", b": nothing\n\n", b"\x1f\x8b\x08\x00garbage"] {
            assert_broken(&dialect.read([bytes]), ErrorKind::Network, &format!("{:?}", dialect.wire));
        }
        for data in [page, "{\"half\": ", "nonsense", "\u{0}"] {
            let frames = vec![Frame { event: None, data: data.replace('\n', " ") }];
            let seen = dialect.run(&Stream { frames, end: 0 });
            let error = assert_broken(&seen, ErrorKind::Network, &format!("{:?}: {data}", dialect.wire));
            assert!(error.message.len() < 300, "{error}");
        }
        for other in ["{}", "[]", "null", "42", "\"hello\"", r#"{"status": "ok"}"#] {
            let frames = vec![Frame { event: None, data: other.to_owned() }];
            assert_broken(
                &dialect.run(&Stream { frames, end: 0 }),
                ErrorKind::Network,
                &format!("{:?}: {other}", dialect.wire),
            );
        }
    }
}

/// Scripts as they may come; arguments are objects, which all wires can say.
fn any_script() -> impl Strategy<Value = Script> {
    let pieces = || prop::collection::vec("[a-zé🎻天\"\\\\{}\n\u{0}\u{7f}]{1,8}", 1..6);
    let text = pieces().prop_map(Part::Text);
    let arguments = prop::collection::hash_map("[a-z_]{1,4}", "[a-zé🎻\"\\\\{}\n]{0,6}", 0..4);
    let call = ("[a-z]{3}", "[a-z_]{1,9}", arguments, 1usize..9)
        .prop_map(|(id, name, arguments, size)| call(&id, &name, &json!(arguments).to_string(), size));
    let thought = (pieces(), prop::option::of("SEAL[a-zA-Z0-9+/=]{1,9}"))
        .prop_map(|(pieces, seal)| Part::Reasoning { pieces, seal });
    let parts = (prop::option::of(thought), prop::option::of(text), prop::collection::vec(call, 0..5))
        .prop_map(|(thought, text, calls)| {
            let parts = thought.into_iter().chain(text).chain(calls).enumerate();
            parts.map(|(number, part)| numbered(part, number)).collect::<Vec<_>>()
        })
        .prop_filter("an answer", |parts| parts.iter().any(|part| !matches!(part, Part::Reasoning { .. })));
    (parts, any::<bool>()).prop_map(|(parts, interleaved)| Script { interleaved, ..Script::new(parts) })
}

/// Ids differ within an answer, or the wires may take two calls for one.
fn numbered(part: Part, number: usize) -> Part {
    match part {
        Part::Call { id, name, pieces } => Part::Call { id: format!("{id}{number}"), name, pieces },
        Part::Reasoning { .. } | Part::Text(_) => part,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_script_cut_anywhere_gives_its_answer(script in any_script(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), newline in prop::sample::select(vec!["\n", "\r\n", "\r"])) {
        for dialect in DIALECTS {
            let bytes = (dialect.stream)(&script).unwrap().bytes(newline);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(dialect.read(pieces), dialect.expected(&script), "{:?}", dialect.wire);
        }
    }

    #[test]
    fn no_damage_makes_an_adapter_fall(script in any_script(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), lost in any::<prop::sample::Index>()) {
        for dialect in DIALECTS {
            let mut stream = (dialect.stream)(&script).unwrap();
            stream.frames.remove(lost.index(stream.frames.len()));
            let mut bytes = stream.bytes("\n");
            for (place, byte) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let _ = dialect.read([bytes.as_slice()]);
        }
    }
}
