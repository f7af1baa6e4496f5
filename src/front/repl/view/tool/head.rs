//! The line of a call: mark, verb, target, and a fact at the right edge.
//!
//! Where room is short the fact is shortened first, then left out; the target is cut last.

use ratatui::text::{Line, Span};

use super::facts::Facts;
use super::verb::{Cut, Doing};
use crate::base::text::width;
use crate::front::repl::view::Look;
use crate::front::repl::view::row::{columns, cut_path, room, spread};

/// Columns of a verb on a roomy screen, so that targets stand below each other.
const VERB_COLUMNS: usize = 7;
/// The most columns of a verb: a foreign tool's name may be long.
const MOST_VERB_COLUMNS: usize = 32;
/// Columns of a target below which a fact has to go.
const LEAST_TARGET: usize = 16;
/// Between a target and where it is looked for.
const PLACE_GAP: (&str, &str) = ("   ", " ");

/// The line of a call.
pub(super) fn line(mark: Span<'static>, doing: &Doing, facts: &Facts, look: &Look) -> Line<'static> {
    let ellipsis = look.glyphs.ellipsis;
    let most_verb = MOST_VERB_COLUMNS.min(look.edge() / 2).max(VERB_COLUMNS);
    let mut verb = width::cut(&doing.verb, most_verb, ellipsis);
    if look.is_roomy() {
        let padding = VERB_COLUMNS.saturating_sub(width::width(&verb));
        verb.push_str(&" ".repeat(padding));
    }
    let mut left = vec![Span::raw("  "), mark, Span::raw(" "), Span::styled(verb, look.theme.verb), Span::raw(" ")];
    let before = columns(&left);
    let gap = if look.is_roomy() { PLACE_GAP.0 } else { PLACE_GAP.1 };
    let place = if doing.place.is_empty() { String::new() } else { format!("{gap}{}", doing.place) };
    let whole = width::width(&doing.target) + width::width(&place);
    let fact = choose(facts, |fact| room(before, fact, look), whole);
    let left_over = room(before, fact, look);
    if whole <= left_over {
        left.push(Span::raw(doing.target.clone()));
        left.push(Span::raw(place));
    } else {
        // The place goes before the target does.
        let target = match doing.cut {
            Cut::Start => cut_path(&doing.target, left_over, ellipsis),
            Cut::End => width::cut(&format!("{}{place}", doing.target), left_over, ellipsis),
        };
        left.push(Span::raw(target));
    }
    let style = if facts.is_failure { look.theme.failure } else { look.theme.dim };
    spread(left, Span::styled(fact.to_owned(), style), look)
}

/// The longest fact beside which the whole target has room, else the longest beside which enough of it has.
fn choose(facts: &Facts, room: impl Fn(&str) -> usize, whole: usize) -> &str {
    let each = [facts.long.as_str(), facts.short.as_str()];
    let with = |least: usize| each.into_iter().find(|fact| room(fact) >= least);
    with(whole).or_else(|| with(LEAST_TARGET)).unwrap_or_default()
}
