//! The law of the house, as a test: who imports whom, how long things are, and what never lands.
//!
//! A rule that is broken fails with a list, a line for each place. The rules themselves are in ARCHITECTURE.md.

mod imports;
mod lex;
mod shape;
mod source;

use std::collections::BTreeSet;

use source::{Source, root, shown, sources, walk};

/// Fails with all of `found`, under a title.
fn nothing(title: &str, found: &[String]) {
    assert!(found.is_empty(), "{title}:\n  {}\n", found.join("\n  "));
}

fn each(rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    sources().iter().flat_map(rule).collect()
}

#[test]
fn layers_import_only_what_the_table_allows() {
    let sources = sources();
    let in_src = || sources.iter().filter(|source| source.path.starts_with("src/"));
    let modules: BTreeSet<_> = in_src().map(|source| source.module().join("::")).collect();
    let found: Vec<_> = in_src().flat_map(|source| imports::violations(source, &modules)).collect();
    nothing("imports against the table of ARCHITECTURE.md", &found);
}

#[test]
fn files_and_functions_are_short() {
    nothing("too long", &shape::lengths(&sources()));
}

#[test]
fn files_say_what_they_own() {
    nothing("without a first line", &each(shape::first_line));
}

#[test]
fn nothing_is_left_lying_about() {
    nothing("left over", &each(shape::leftovers));
}

/// A file that no `mod` mounts is compiled by nobody, and its tests pass by not being run.
#[test]
fn every_file_is_mounted() {
    let sources = sources();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let is_root = |path: &str| manifest.contains(&format!("path = \"{path}\""));
    let mounted: BTreeSet<_> = sources.iter().flat_map(|source| children(source, is_root(&source.path))).collect();
    let lost: Vec<_> = sources
        .iter()
        .filter(|source| !is_root(&source.path) && !mounted.contains(&source.path))
        .map(|source| format!("{}: no `mod` mounts it", source.path))
        .collect();
    nothing("forgotten files", &lost);
}

/// Where the files of the modules may be that `source` declares.
fn children(source: &Source, is_root: bool) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    let folder = if is_root || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    let tokens = source.tokens();
    let declares = |three: &&[lex::Token<'_>]| three[0].is_word("mod") && three[2].is_mark(";");
    let names = tokens.windows(3).filter(declares).map(|three| three[1].text);
    names.flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]).collect()
}

/// Layers and their rooms; what is deeper is the room's own affair.
#[test]
fn every_room_is_described() {
    let guide = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let room_of = |source: &Source| {
        let mut names = source.path.strip_prefix("src/")?.rsplit_once('/')?.0.splitn(3, '/');
        let (layer, room) = (names.next()?, names.next());
        Some(room.map_or(format!("{layer}/"), |room| format!("{layer}/{room}")))
    };
    let rooms: BTreeSet<_> = sources().iter().filter_map(room_of).collect();
    let silent = rooms.iter().filter(|room| !guide.contains(*room));
    nothing("folders that ARCHITECTURE.md does not name", &silent.cloned().collect::<Vec<_>>());
}

#[test]
fn no_path_of_somebodys_machine() {
    let mut found = Vec::new();
    let mut look = |path: &std::path::Path| {
        // What is not text has no lines to look at.
        if let Ok(text) = std::fs::read_to_string(path) {
            found.extend(shape::machine_paths(&shown(path), &text));
        }
    };
    for folder in ["src", "tests", "assets", ".ci"] {
        walk(&root().join(folder), &mut look);
    }
    for file in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Makefile", "Cargo.toml"] {
        look(&root().join(file));
    }
    nothing("paths of a developer's machine", &found);
}
