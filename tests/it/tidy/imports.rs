//! Who may import whom: the table of ARCHITECTURE.md, and the paths of a file held against it.
//!
//! Follows `use` trees, paths inside code, `super`, and names a `use` has bound; macros are read like any code.

use std::collections::{BTreeMap, BTreeSet};

use super::lex::{Kind, Token};
use super::source::{Source, closing};

/// Modules that share one right to import.
struct Room {
    name: &'static str,
    /// Modules and all below them; `=` before a name means that module alone. The most specific entry of all rooms wins.
    holds: &'static [&'static str],
    /// What it may import besides itself, written like `holds`; `vocabulary` stands for [`VOCABULARY`].
    may: &'static [&'static str],
    /// What it must not name, wherever that comes from.
    never: &'static [&'static str],
}

const VOCABULARY: &[&str] =
    &["=model", "model::message", "model::request", "model::reply", "model::usage", "model::error"];

/// Files, network, processes, threads, clocks, chance.
const PURE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "clap",
    "crossterm",
    "dirs",
    "fastrand",
    "ignore",
    "jiff",
    "ratatui",
    "reqwest",
    "rustix",
    "rustls",
    "tempfile",
    "tokio",
    "crate::base::clock",
    "crate::base::env",
    "crate::base::lock",
    "crate::base::zone",
];

/// As [`PURE`], but for what the one impure file of the kernel is there for.
const DRIVER: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "clap",
    "crossterm",
    "dirs",
    "ignore",
    "ratatui",
    "reqwest",
    "rustix",
    "rustls",
    "tempfile",
    "tokio::fs",
    "tokio::io",
    "tokio::net",
    "tokio::process",
    "tokio::signal",
    "crate::base::env",
];

/// What the pure half of the chat never does; control sequences come from crossterm only as text.
const SCREEN: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "crossterm::event",
    "crossterm::execute",
    "crossterm::queue",
    "crossterm::terminal::enable_raw_mode",
    "crossterm::terminal::size",
    "rustix",
    "tempfile",
    "tokio",
    "crate::base::clock",
    "crate::base::env",
    "crate::base::lock",
];

/// The command line and the screen belong to the front.
const NO_FRONT: &[&str] = &["clap", "clap_complete", "crossterm", "ratatui", "std::io::stdout", "std::io::stderr"];

/// What may be named although [`PURE`] closes what holds it.
const HARMLESS: &[&str] = &["std::time::Duration"];

const FRONT: &[&str] = &[
    "base",
    "model",
    "kernel",
    "product",
    "front::command",
    "front::out",
    "front::stdin",
    "front::stop",
    "front::term",
    "front::wire",
];

const ROOMS: &[Room] = &[
    Room { name: "base", holds: &["base"], may: &[], never: NO_FRONT },
    Room { name: "model vocabulary", holds: VOCABULARY, may: &["base"], never: PURE },
    Room {
        name: "model/provider",
        holds: &["model::provider", "model::sse"],
        may: &["base", "vocabulary"],
        never: PURE,
    },
    Room { name: "model", holds: &["model"], may: &["base", "vocabulary", "model"], never: NO_FRONT },
    Room { name: "kernel driver", holds: &["kernel::driver"], may: &["base", "vocabulary", "kernel"], never: DRIVER },
    Room { name: "kernel", holds: &["kernel"], may: &["base", "vocabulary"], never: PURE },
    Room {
        name: "product/tool",
        holds: &["product::tool"],
        may: &[
            "base",
            "vocabulary",
            "kernel",
            "product::error",
            "product::job",
            "product::picture",
            "product::resource",
            "product::sandbox",
        ],
        never: NO_FRONT,
    },
    Room {
        name: "product/tool/fetch",
        holds: &["product::tool::fetch"],
        may: &["base", "model", "kernel", "product::tool", "product::error", "product::sandbox"],
        never: NO_FRONT,
    },
    Room {
        name: "product/permission",
        holds: &["product::permission"],
        may: &["base", "vocabulary", "kernel", "product::config", "product::error", "product::files"],
        never: NO_FRONT,
    },
    Room { name: "product", holds: &["product"], may: &["base", "model", "kernel", "product"], never: NO_FRONT },
    Room {
        name: "the pure half of the repl",
        holds: &["front::repl::complete", "front::repl::editor", "front::repl::key", "front::repl::view"],
        may: &["base", "vocabulary", "kernel::event"],
        never: SCREEN,
    },
    Room {
        name: "the decisions of the repl",
        holds: &["front::repl::screen", "front::repl::state", "front::repl::update"],
        may: &["base", "model", "kernel", "product", "front::command", "front::repl", "front::term::reflow"],
        never: SCREEN,
    },
    Room { name: "front/print", holds: &["front::print"], may: FRONT, never: &[] },
    Room { name: "front/json", holds: &["front::json"], may: FRONT, never: &[] },
    Room { name: "front/tcp", holds: &["front::tcp"], may: FRONT, never: &[] },
    Room { name: "front/acp", holds: &["front::acp"], may: FRONT, never: &[] },
    Room {
        name: "front/repl",
        holds: &["front::repl", "front::repl::complete::index"],
        may: &[
            "base",
            "model",
            "kernel",
            "product",
            "front::command",
            "front::out",
            "front::stdin",
            "front::stop",
            "front::term",
            "front::wire",
            "front::repl",
        ],
        never: &[],
    },
    // What all fronts share: term, wire, command, out, stdin.
    Room { name: "front", holds: &["front"], may: &["base", "model", "kernel", "product"], never: &[] },
];

/// A path that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    /// From the root of the crate (`crate`) or of another one.
    path: Vec<String>,
    line: usize,
}

/// What `source` names and must not, a line each.
pub fn violations(source: &Source, modules: &BTreeSet<String>) -> Vec<String> {
    let module = source.module();
    let Some(room) = room_of(&module.join("::")) else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    for named in paths(source, modules) {
        let path = named.path.join("::");
        let at = format!("{}:{}", source.path, named.line);
        if path.ends_with("::*") && named.path[0] == "crate" {
            found.insert(format!("{at}: `{path}` hides what is imported; name it"));
        }
        let harmless = HARMLESS.iter().any(|entry| is_below(&path, entry));
        if !harmless && room.never.iter().any(|entry| is_below(&path, entry)) {
            found.insert(format!("{at}: {} must not use `{path}`", room.name));
        }
        let Some(target) = path.strip_prefix("crate::").map(|inside| module_of(inside, modules)) else {
            continue;
        };
        let own = room_of(target).is_some_and(|other| other.name == room.name);
        if !own && !room.may.iter().any(|entry| matches(target, entry)) {
            found.insert(format!("{at}: {} may not import `{path}`", room.name));
        }
    }
    found.into_iter().collect()
}

/// The room of a module; `None` for the root of the crate, which may import everything.
fn room_of(module: &str) -> Option<&'static Room> {
    let fit = |room: &Room| room.holds.iter().filter(|entry| matches(module, entry)).map(|entry| rank(entry)).max();
    ROOMS
        .iter()
        .filter_map(|room| fit(room).map(|rank| (rank, room)))
        .max_by_key(|(rank, _)| *rank)
        .map(|(_, room)| room)
}

/// How specific an entry is: an exact one beats all.
fn rank(entry: &str) -> (bool, usize) {
    (entry.starts_with('='), entry.len())
}

fn matches(module: &str, entry: &str) -> bool {
    match (entry, entry.strip_prefix('=')) {
        ("vocabulary", _) => VOCABULARY.iter().any(|entry| matches(module, entry)),
        (_, Some(exact)) => module == exact,
        (_, None) => is_below(module, entry),
    }
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The longest part of `path` that is a module; at least its first name.
fn module_of<'a>(path: &'a str, modules: &BTreeSet<String>) -> &'a str {
    let mut module = path;
    while !modules.contains(module) {
        match module.rsplit_once("::") {
            Some((outer, _)) => module = outer,
            None => break,
        }
    }
    module
}

/// Every path outside of test code whose root is known.
fn paths(source: &Source, modules: &BTreeSet<String>) -> Vec<Named> {
    let code = source.code();
    let scopes = scopes(&code);
    let module_at = |at: usize| -> Vec<String> {
        let inner = scopes.iter().filter(|(range, _)| range.contains(&at)).map(|(_, name)| name.clone());
        source.module().into_iter().chain(inner).collect()
    };
    let mut found = Vec::new();
    let mut bound = BTreeMap::new();
    let mut inline = Vec::new();
    let mut at = 0;
    while at < code.len() {
        if is_use(&code, at) {
            let mut leaves = Vec::new();
            let end = use_tree(&code, at + 1, &[], &mut leaves);
            for (path, name) in leaves {
                if let Some(path) = rooted(&path, &module_at(at), modules, &BTreeMap::new()) {
                    bound.insert(name, path.clone());
                    found.push(Named { path, line: code[at].line });
                }
            }
            at = end;
        } else {
            let end = plain_path(&code, at);
            if end > at + 1 {
                inline.push(at..end);
            }
            at = end.max(at + 1);
        }
    }
    // Looked at last: a `use` binds its name for the whole file.
    for range in inline {
        let at = range.start;
        let path: Vec<_> =
            code[range].iter().filter(|token| token.kind == Kind::Word).map(|t| t.text.to_owned()).collect();
        if let Some(path) = rooted(&path, &module_at(at), modules, &bound) {
            found.push(Named { path, line: code[at].line });
        }
    }
    found
}

/// The modules written out inside the file: where, and their names.
fn scopes(code: &[Token<'_>]) -> Vec<(std::ops::Range<usize>, String)> {
    let opens = |at: usize| code[at].is_word("mod") && code.get(at + 2).is_some_and(|token| token.is_mark("{"));
    (0..code.len())
        .filter(|at| opens(*at))
        .map(|at| (at + 2..closing(code, at + 2), code[at + 1].text.to_owned()))
        .collect()
}

/// Whether a `use` item begins here; `use<'a>` in a bound is none.
fn is_use(code: &[Token<'_>], at: usize) -> bool {
    code[at].is_word("use") && code.get(at + 1).is_some_and(|token| !token.is_mark("<"))
}

/// Reads one branch of a `use` tree; gives its leaves, each with the name it binds, and returns the index after it.
fn use_tree(code: &[Token<'_>], at: usize, prefix: &[String], leaves: &mut Vec<(Vec<String>, String)>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = at;
    while let Some(token) = code.get(at) {
        at += 1;
        match (token.kind, token.text) {
            // `$` of a macro's `$crate`.
            (Kind::Mark, "::" | "$") => {}
            (Kind::Mark, "{") => {
                while code.get(at).is_some_and(|token| !token.is_mark("}")) {
                    // Never stands still, whatever the source looks like.
                    at = use_tree(code, at, &path, leaves).max(at + 1);
                    at += usize::from(code.get(at).is_some_and(|token| token.is_mark(",")));
                }
                return at + 1;
            }
            (Kind::Mark, "*") => path.push("*".to_owned()),
            (Kind::Word, "as") => {
                let name = code.get(at).map_or("", |token| token.text);
                leaves.push((path, name.to_owned()));
                return at + 1;
            }
            (Kind::Word, "self") if !path.is_empty() => {}
            (Kind::Word, name) => path.push(name.to_owned()),
            _ => {
                at -= 1;
                break;
            }
        }
    }
    // The loop ends before `,`, `}` or `;`.
    if let Some(name) = path.last().cloned() {
        leaves.push((path, name));
    }
    at
}

/// The index after the path that begins here; `at` itself where none does.
fn plain_path(code: &[Token<'_>], at: usize) -> usize {
    let is_word = |at: usize| code.get(at).is_some_and(|token| token.kind == Kind::Word);
    let is_colons = |at: usize| code.get(at).is_some_and(|token| token.is_mark("::"));
    if !is_word(at) {
        return at;
    }
    let mut end = at + 1;
    while is_colons(end) && is_word(end + 1) {
        end += 2;
    }
    end
}

/// `path` from the root of a crate, or `None` where its first name is nothing that is known here.
fn rooted(
    path: &[String],
    module: &[String],
    modules: &BTreeSet<String>,
    bound: &BTreeMap<String, Vec<String>>,
) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let inside = |module: &[String], rest: &[String]| Some([&["crate".to_owned()][..], module, rest].concat());
    match first.as_str() {
        "crate" => Some(path.to_vec()),
        "self" => inside(module, rest),
        "super" => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            inside(&module[..module.len().saturating_sub(ups)], &path[ups..])
        }
        "core" | "alloc" => Some([&["std".to_owned()][..], rest].concat()),
        name => {
            if let Some(bound) = bound.get(name) {
                return Some([bound, rest].concat());
            }
            let child = [module, std::slice::from_ref(first)].concat().join("::");
            if modules.contains(&child) { inside(module, path) } else { Some(path.to_vec()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> Vec<String> {
        let modules = [
            "base",
            "base::env",
            "model",
            "model::error",
            "model::http",
            "model::provider",
            "kernel",
            "kernel::driver",
            "kernel::event",
            "kernel::tool",
            "product",
            "product::session",
            "product::tool",
            "product::tool::read",
            "front",
            "front::print",
            "front::wire",
            "front::repl",
            "front::repl::view",
        ];
        violations(&Source::new(path, text), &modules.map(str::to_owned).into())
    }

    #[test]
    fn every_way_of_naming_a_module_is_seen() {
        for text in [
            "use crate::model::http::Client;",
            "use crate::{base::env, model::{http::{self, Client}, error}};",
            "use super::super::model::http;",
            "fn f() { crate::model::http::get(); }",
            "use crate::model; fn f() -> model::http::Client {}",
            "use crate::model as m; type X = m::http::Client;",
            "mod inner { use super::super::super::model::http; }",
            "macro_rules! m { () => { $crate::model::http::get() } }",
            "macro_rules! m { ($x:ident) => { use $crate::{#, model::http::$x}; } }",
        ] {
            let found = broken("src/kernel/node.rs", text);
            assert!(found.iter().any(|line| line.contains("model::http")), "{text}: {found:?}");
        }
    }

    #[test]
    fn strings_comments_and_tests_are_free() {
        let text = "//! [`crate::front`]\n// crate::front\nconst A: &str = \"crate::front::x\";\n\
                    #[cfg(test)]\nmod tests { use crate::front::print::*; use std::fs; }";
        assert_eq!(broken("src/kernel/node.rs", text), [""; 0]);
    }

    #[test]
    fn the_kernel_is_pure_but_for_its_driver() {
        let text = "use std::time::{Duration, Instant};";
        assert_eq!(
            broken("src/kernel/node.rs", text),
            ["src/kernel/node.rs:1: kernel must not use `std::time::Instant`"]
        );
        assert_eq!(broken("src/kernel/driver.rs", text), [""; 0]);
        assert_eq!(broken("src/kernel/node.rs", "fn f() { std::time::Duration::ZERO; }"), [""; 0]);
        assert_eq!(broken("src/kernel/node.rs", "use std::time; fn f(x: time::Instant) {}").len(), 2);
        assert_eq!(broken("src/kernel/driver.rs", "fn f() { std::fs::read(x) }").len(), 1);
        assert_eq!(broken("src/kernel/node.rs", "use super::driver::run;").len(), 1);
    }

    #[test]
    fn layers_look_down_only() {
        assert_eq!(broken("src/model/mod.rs", "use error::ModelError; use crate::base::json;"), [""; 0]);
        assert_eq!(broken("src/model/mod.rs", "use http::Client;").len(), 1);
        assert_eq!(broken("src/model/provider/x.rs", "use crate::model::{Api, error::ModelError};"), [""; 0]);
        assert_eq!(broken("src/model/provider/x.rs", "use crate::base::env::Env;").len(), 1);
        assert_eq!(broken("src/product/tool/read.rs", "use crate::product::session::Store;").len(), 1);
        assert_eq!(broken("src/product/session/mod.rs", "use crate::product::tool::read;"), [""; 0]);
        assert_eq!(broken("src/front/repl/mod.rs", "use crate::front::{wire, print}; use view::Frame;").len(), 1);
        assert_eq!(broken("src/front/repl/view/a.rs", "use crate::kernel::{event::Event, tool::Risk};").len(), 1);
        assert_eq!(broken("src/front/wire/mod.rs", "use super::print;").len(), 1);
        assert_eq!(broken("src/main.rs", "use viola::front::print; use crate::product;"), [""; 0]);
    }
}
