//! Finding a language by its name, and a word in its lists. The lists are spread out when a language is first met.

use super::grammar::Grammar;
use super::languages::GRAMMARS;
use super::lexer::Role;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The words of a language that mean something.
#[derive(Debug)]
pub struct Words(HashMap<&'static str, Role>);

static WORDS: [OnceLock<Words>; GRAMMARS.len()] = [const { OnceLock::new() }; GRAMMARS.len()];

/// A language by its fence word (`rs`, `Rust`), or by the path of a file (`src/main.rs`, `Makefile`).
pub fn find(name: &str) -> Option<(&'static Grammar, &'static Words)> {
    if name.is_empty() {
        return None;
    }
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    let ending = file.rsplit_once('.').map_or(file.as_str(), |(_, ending)| ending);
    [file.as_str(), ending].into_iter().find_map(by_name)
}

fn by_name(name: &str) -> Option<(&'static Grammar, &'static Words)> {
    let is_it = |grammar: &Grammar| grammar.names.split(' ').any(|known| known == name);
    let (grammar, words) = GRAMMARS.iter().zip(&WORDS).find(|(grammar, _)| is_it(grammar))?;
    Some((grammar, words.get_or_init(|| Words::of(grammar))))
}

impl Words {
    fn of(grammar: &Grammar) -> Self {
        let lists = [(grammar.keywords, Role::Keyword), (grammar.constants, Role::Number), (grammar.kinds, Role::Kind)];
        let each = |(list, role): (&'static str, Role)| list.split(' ').map(move |word| (word, role));
        Self(lists.into_iter().flat_map(each).filter(|(word, _)| !word.is_empty()).collect())
    }

    /// What a word means.
    pub fn role(&self, word: &str, any_case: bool) -> Option<Role> {
        let found = self.0.get(word);
        let found = if any_case { found.or_else(|| self.0.get(word.to_lowercase().as_str())) } else { found };
        found.copied()
    }
}
