//! The outline of a message as this program writes it, from the beginning and the end of its line.
//!
//! A shortcut past the parser for nearly all lines of a file: what was said is not looked at, but for whether another
//! record begins inside of it, as it does where a line was torn and written on. Anything else that is odd is left to
//! the parser; what is broken in the middle of a line that is taken comes to light when the line is read.

use memchr::memmem;

use super::entry::{Kind, Link, Outline};

/// How every record begins, and the parts of a message.
const START: &str = "{\"type\":";
/// What parts of messages are; an object of another type may be a record.
const PARTS: [&str; 5] = ["\"text\"", "\"tool_result\"", "\"tool_use\"", "\"reasoning\"", "\"image\""];
/// How a message ends: with the last part of what was said.
const END: &str = "]}";

/// Reads outlines.
pub struct Skim {
    start: memmem::Finder<'static>,
}

impl Skim {
    /// Prepares the search, which takes longer than a line.
    pub fn new() -> Self {
        Self { start: memmem::Finder::new(START) }
    }

    /// Reads the outline of a line without blanks at its ends; `None` where the parser has to look at it.
    pub fn outline(&self, line: &str) -> Option<Outline> {
        let rest = line.strip_prefix(START)?.strip_prefix("\"message\",\"id\":")?;
        let (id, rest) = number(rest)?;
        let rest = rest.strip_prefix(",\"parent_id\":")?;
        let (parent_id, rest) = match rest.strip_prefix("null") {
            Some(rest) => (Link::Root, rest),
            None => number(rest).map(|(id, rest)| (Link::Id(id), rest))?,
        };
        let said = rest.strip_prefix(",\"timestamp\":")?.strip_suffix(END)?;
        let begins_another = |place| {
            let object = said.get(place + START.len()..).unwrap_or_default();
            !PARTS.iter().any(|part| object.starts_with(part))
        };
        let is_one = !self.start.find_iter(said.as_bytes()).any(begins_another);
        is_one.then(|| Outline { kind: Kind::Message, id: Link::Id(id), parent_id, ..Outline::default() })
    }
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    let is_plain = digits.len() == 1 || !digits.starts_with('0');
    // A comma follows, so that it is whole.
    digits.parse().ok().filter(|_| is_plain && rest.starts_with(',')).map(|number| (number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::{Part, ToolResult};
    use crate::product::session::convert::{Place, result_line, user_line};
    use crate::product::session::entry::MessageLine;
    use proptest::prelude::*;

    fn outline(line: &str) -> Option<Outline> {
        Skim::new().outline(line)
    }

    fn parsed(line: &str) -> Option<Outline> {
        serde_json::from_str(line).ok()
    }

    fn written(line: &MessageLine) -> String {
        serde_json::to_string(line).unwrap()
    }

    #[test]
    fn what_is_odd_is_left_to_the_parser() {
        let whole = r#"{"type":"message","id":1,"parent_id":null,"timestamp":1,"role":"user","content":[{"type":"text","text":"x"}]}"#;
        assert!(outline(whole).is_some());
        for (from, to) in [
            ("\"message\"", "\"summary\""),
            ("\"id\":1", "\"id\":01"),
            ("\"id\":1", "\"id\":1.0"),
            ("\"id\":1", "\"id\":-1"),
            ("\"id\":1", "\"id\":18446744073709551616"),
            ("\"id\":1,", ""),
            ("null", "\"1\""),
            ("null", ""),
            (",\"timestamp\":1", ""),
            ("]}", ""),
            ("]}", "]"),
            ("{\"type\":\"text\"", "{\"type\":\"message\""),
            ("{\"type\":\"text\"", "{\"type\": \"text\""),
            (":", ": "),
        ] {
            let line = whole.replace(from, to);
            assert_eq!(outline(&line), None, "{line}");
        }
        assert_eq!(outline(""), None);
    }

    /// A message that says this, maybe inside of a call's arguments.
    fn line() -> impl Strategy<Value = String> {
        let text =
            prop_oneof![any::<String>(), "[{}\\[\\]\",:a-z\\\\]{0,40}", Just("{\"type\":\"message\"".to_owned())];
        let parent = proptest::option::of(any::<u64>());
        (any::<u64>(), parent, any::<i64>(), text, any::<bool>()).prop_map(
            |(id, parent_id, timestamp, text, is_result)| {
                let place = Place { id, parent_id, timestamp };
                if is_result {
                    written(&result_line(&ToolResult::text("c", text, false), place, &mut |_| None))
                } else {
                    written(&user_line(&[Part::Text(text)], place, &mut |_| None))
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn what_is_written_here_is_understood_as_the_parser_does(line in line()) {
            prop_assert!(outline(&line).is_some());
            prop_assert_eq!(outline(&line), parsed(&line));
        }

        /// Torn, and written on right there: the record behind is never taken for a part of the one before.
        #[test]
        fn no_record_is_swallowed(
            one in line(), two in line(), cut in any::<prop::sample::Index>(), nuls in 0..3_usize
        ) {
            let cut = one.floor_char_boundary(cut.index(one.len() + 1));
            let torn = format!("{}{}{two}", &one[..cut], "\0".repeat(nuls));
            let skimmed = outline(torn.trim_start_matches('\0'));
            if cut == 0 {
                prop_assert_eq!(skimmed, parsed(&two));
            } else {
                prop_assert_eq!(skimmed, None);
            }
        }

        /// Changed in places: what is taken and can be parsed is what the parser says.
        #[test]
        fn what_can_be_parsed_is_what_the_parser_says(
            line in line(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), "[\"{}\\[\\],:0-9a-z\\\\ ]{0,2}"), 1..4),
        ) {
            let mut line = line;
            for (place, text) in changes {
                let place = line.floor_char_boundary(place.index(line.len() + 1));
                let end = line.ceil_char_boundary((place + text.len()).min(line.len()));
                line.replace_range(place..end, &text);
            }
            if let (Some(skimmed), Some(parsed)) = (outline(&line), parsed(&line)) {
                prop_assert_eq!(skimmed, parsed, "{}", line);
            }
        }
    }
}
