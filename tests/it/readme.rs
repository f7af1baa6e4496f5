//! README shows what the program shows: its picture of the screen and its tables are made here, and compared.

use std::fs;
use std::path::Path;

use viola::front::command::slash::COMMANDS;
use viola::front::repl::key::keymap::Keymap;
use viola::product::catalogue;
use viola::product::config::presets::{PRESETS, Preset};

use crate::support::{Host, environment};

/// Says that README is to be written anew, not compared.
const WRITE: &str = "VIOLA_README";

/// Compares the block that is called `name` with what it should be, or writes it.
#[track_caller]
fn block(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name}: made by `make screen` -->\n\n"), format!("\n<!-- end of {name} -->"));
    let (before, rest) = readme.split_once(&begin).unwrap();
    let (there, after) = rest.split_once(&end).unwrap();
    if environment(WRITE).is_some() {
        fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(there, wanted, "README.md shows another {name}; `make screen` writes it anew");
}

#[test]
fn readme_shows_what_is_shown() {
    block("keys", &keys());
    block("commands", &commands());
    block("providers", &providers());
    block("screen", &screen());
}

fn keys() -> String {
    let mut table = "| key | | `ui.keys` name |\n| --- | --- | --- |\n".to_owned();
    for row in Keymap::default().table() {
        // A backtick ends code in Markdown; none of ours is one.
        let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
        table.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), row.help, row.name));
    }
    table
}

fn commands() -> String {
    let mut table = "| command | |\n| --- | --- |\n".to_owned();
    for command in COMMANDS {
        let usages = std::iter::once(command.usage()).chain(command.aliases.iter().map(|alias| format!("/{alias}")));
        let usages: Vec<String> = usages.map(|usage| format!("`{}`", usage.replace('|', "\\|"))).collect();
        table.push_str(&format!("| {} | {} |\n", usages.join(" "), command.help));
    }
    table
}

fn providers() -> String {
    let mut table =
        "| name | address | wire | model unless another is named | key |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for Preset { name, base_url, api, model, variable } in PRESETS {
        let model = model.map_or_else(|| "what the server lists".to_owned(), |model| format!("`{model}`"));
        let key = variable.map_or_else(|| "none wanted".to_owned(), |variable| format!("`{variable}`"));
        table.push_str(&format!("| `{name}` | {base_url} | `{}` | {model} | {key} |\n", api.as_str()));
    }
    let (source, date) = (catalogue::source(), catalogue::date());
    format!("{table}\nWindows, prices and abilities of their models were taken from {source} on {date}.\n")
}

/// The demo in 80 columns, without what differs from run to run.
fn screen() -> String {
    let host = Host::new();
    let mut pty = host.agent(&["demo", "--keep", "tea"]).cwd("../home").pty(80, 24);
    assert_eq!(pty.exit_code(), 0, "{}", pty.history().join("\n"));
    assert_eq!(pty.left_on(), [""; 0]);
    let history = pty.history();
    let shown = history.iter().map(|line| without_times(line)).collect::<Vec<_>>().join("\n");
    let shown =
        shown.trim_end().split("\nThe project is kept").next().unwrap_or_default().trim_matches('\n').to_owned();
    let lines: Vec<String> = shown.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// `0.3 s` is `0.1 s`: how long something took is another time each time.
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let is_time = words[at] == "s" && words[at - 1].len() == 3 && words[at - 1].parse::<f64>().is_ok();
        if is_time {
            "0.1".clone_into(&mut words[at - 1]);
        }
    }
    words.join(" ")
}
