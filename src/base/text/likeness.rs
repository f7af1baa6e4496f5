//! What a misspelt word may have meant.
//!
//! Two measures, since two mistakes are made: a slip of the finger in a word that is known by heart, and a file's name
//! remembered in part.

/// Longer words, in characters, are no slip of the finger: comparing takes time that grows with the length, and a
/// stranger may have written them.
const LONGEST: usize = 64;

/// The candidate that is spelt most like `word`, if a typing error or two would explain the difference.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One slip for every three letters: `confg`, `sesions`, `timeot`; two short words are not alike by accident.
    let length = word.chars().take(LONGEST + 1).count();
    if length > LONGEST {
        return None;
    }
    let allowed = (length / 3).min(3);
    let ranked = candidates.into_iter().map(|candidate| (strsim::osa_distance(word, candidate), candidate));
    ranked.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// How much of two names has to be the same, from 0 to 1: lets one typing error in a short name pass, and a missing
/// ending.
const NEAR: f32 = 0.6;

/// At most `most` of `names` that have much in common with `wanted`, the most alike first. Case does not count.
pub fn alike<'a>(wanted: &str, names: &'a [String], most: usize) -> Vec<&'a str> {
    let folded: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let choices: Vec<&str> = folded.iter().map(String::as_str).collect();
    let mut near = Vec::new();
    for found in similar::get_close_matches(wanted.to_lowercase().as_str(), &choices, most, NEAR) {
        for (name, _) in names.iter().zip(&folded).filter(|(_, folded)| *folded == found) {
            if near.len() < most && !near.contains(&name.as_str()) {
                near.push(name.as_str());
            }
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let words = ["config", "sessions", "doctor"];
        assert_eq!(closest("confg", words), Some("config"));
        assert_eq!(closest("sesions", words), Some("sessions"));
        assert_eq!(closest("conflict", words), None);
        assert_eq!(closest("fix", ["fax"]), Some("fax"));
        assert_eq!(closest("if", ["of"]), None);
        let [long, longer] = [63, 64].map(|length| "ä".repeat(length));
        assert_eq!(closest(&format!("{long}b"), [longer.as_str()]), Some(longer.as_str()));
        assert_eq!(closest(&format!("{longer}b"), [longer.as_str()]), None);
    }

    #[test]
    fn names_are_found_by_a_part_and_in_any_case() {
        let names = ["Main.rs", "main.rs", "README.md", "lib.rs"].map(str::to_owned);
        assert_eq!(alike("main", &names, 3), ["Main.rs", "main.rs"]);
        assert_eq!(alike("readme.MD", &names, 3), ["README.md"]);
        assert_eq!(alike("main.rs", &names, 1).len(), 1);
        assert!(alike("qqq", &names, 3).is_empty());
    }
}
