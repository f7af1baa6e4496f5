//! What was cut out of drafts, to be put in again. It outlives the draft; it never grows beyond [`ENTRIES`] and [`BYTES`].

use std::collections::VecDeque;

use super::text::Text;

/// Entries one can go back to; more than anybody remembers.
const ENTRIES: usize = 60;

/// Bytes of all entries; the newest is kept even when it alone is bigger.
const BYTES: usize = 4 * 1024 * 1024;

/// A text that was cut out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kill {
    /// The text.
    pub text: Text,
    /// Whether it is whole lines, as vi has them; it ends in a line break then.
    pub lines: bool,
}

/// The texts that were cut out, newest first.
#[derive(Clone, Debug, Default)]
pub struct Kills {
    ring: VecDeque<Kill>,
}

impl Kills {
    /// Takes a text in.
    pub fn push(&mut self, text: Text, lines: bool) {
        self.ring.push_front(Kill { text, lines });
        self.ring.truncate(ENTRIES);
        let mut bytes = 0;
        let fits = self.ring.iter().take_while(|kill| {
            bytes += kill.text.weight();
            bytes <= BYTES
        });
        let fits = fits.count();
        self.ring.truncate(fits.max(1));
    }

    /// Appends to the newest text.
    pub fn join_right(&mut self, text: &Text) {
        match self.ring.front_mut() {
            Some(kill) => kill.text.push(text),
            None => self.push(text.clone(), false),
        }
    }

    /// Puts before the newest text.
    pub fn join_left(&mut self, text: &Text) {
        match self.ring.front_mut() {
            Some(kill) => kill.text.push_front(text),
            None => self.push(text.clone(), false),
        }
    }

    /// The one that is `back` before the newest; the ring begins anew behind the oldest.
    pub fn get(&self, back: usize) -> Option<&Kill> {
        self.ring.get(back.checked_rem(self.ring.len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_ring_of_bounded_size() {
        let mut kills = Kills::default();
        assert_eq!(kills.get(0), None);
        for text in ["one", "two", "three"] {
            kills.push(Text::typed(text), false);
        }
        let at = |kills: &Kills, back| kills.get(back).unwrap().text.as_str().to_owned();
        assert_eq!([0, 1, 2, 3].map(|back| at(&kills, back)), ["three", "two", "one", "three"]);
        (0..100).for_each(|_| kills.push(Text::typed("x"), false));
        assert_eq!(kills.ring.len(), ENTRIES);
        kills.push(Text::paste(&"y".repeat(BYTES)), false);
        assert_eq!(kills.ring.len(), 1);
    }
}
