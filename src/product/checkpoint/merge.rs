//! Three versions of a text made one: what somebody changed since stays, and what a turn had changed goes. Pure.

use similar::TextMerge;

/// Texts up to this many bytes are merged; comparing larger ones could take seconds.
pub const MAX_BYTES: usize = 1 << 20;

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Both sides' changes are in it.
    Clean(Vec<u8>),
    /// Both changed the same lines, or lines that touch.
    Conflict,
    /// One of them is no text, or a very long one.
    NoText,
}

/// Merges what became of `base` on two sides, line by line.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    let text = |content| -> Option<&str> {
        let text = std::str::from_utf8(content).ok()?;
        (content.len() <= MAX_BYTES && !text.contains('\0')).then_some(text)
    };
    let (Some(base), Some(ours), Some(theirs)) = (text(base), text(ours), text(theirs)) else {
        return Merged::NoText;
    };
    let merged = TextMerge::from_lines(base, ours, theirs);
    if merged.is_conflicted() { Merged::Conflict } else { Merged::Clean(merged.to_string().into_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(text: &str) -> Merged {
        Merged::Clean(text.as_bytes().to_vec())
    }

    #[test]
    fn changes_apart_from_each_other_are_joined() {
        let merged = |base: &str, ours: &str, theirs: &str| merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        assert_eq!(merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n"), clean("A\nb\nc\nD\n"));
        assert_eq!(merged("a\nb\nc\n", "a\nb\nc\nx\n", "b\nc\n"), clean("b\nc\nx\n"));
        assert_eq!(merged("a\nb\nc", "a\nb\nc\nd", "x\na\nb\nc"), clean("x\na\nb\nc\nd"));
        assert_eq!(merged("a\n", "b\n", "b\n"), clean("b\n"));
        assert_eq!(merged("a\n", "b\n", "c\n"), Merged::Conflict);
        assert_eq!(merged("a\n", "", "b\n"), Merged::Conflict);
        assert_eq!(merged("a\0\n", "", "b\n"), Merged::NoText);
        assert_eq!(merge(b"\xff", b"", b""), Merged::NoText);
    }

    fn lines() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]\n", 0..12).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_has_no_say(base in lines(), other in lines()) {
            prop_assert_eq!(merge(base.as_bytes(), base.as_bytes(), other.as_bytes()), clean(&other));
            prop_assert_eq!(merge(base.as_bytes(), other.as_bytes(), base.as_bytes()), clean(&other));
            prop_assert_eq!(merge(base.as_bytes(), other.as_bytes(), other.as_bytes()), clean(&other));
        }
    }
}
