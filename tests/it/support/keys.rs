//! The keyboard and the modes of a terminal, as bytes: what a key sends, what tmux calls it, and which modes a program has
//! left switched on.

use std::collections::BTreeSet;

/// Keys that are not written as their character: name, bytes, and tmux's name.
const KEYS: [(&str, &str, &str); 20] = [
    ("enter", "\r", "Enter"),
    ("esc", "\x1b", "Escape"),
    ("tab", "\t", "Tab"),
    ("shift-tab", "\x1b[Z", "BTab"),
    ("backspace", "\x7f", "BSpace"),
    ("delete", "\x1b[3~", "DC"),
    ("up", "\x1b[A", "Up"),
    ("down", "\x1b[B", "Down"),
    ("right", "\x1b[C", "Right"),
    ("left", "\x1b[D", "Left"),
    ("home", "\x1b[H", "Home"),
    ("end", "\x1b[F", "End"),
    ("pageup", "\x1b[5~", "PPage"),
    ("pagedown", "\x1b[6~", "NPage"),
    ("ctrl-left", "\x1b[1;5D", "C-Left"),
    ("ctrl-right", "\x1b[1;5C", "C-Right"),
    ("alt-enter", "\x1b\r", "M-Enter"),
    // As the kitty protocol has it; nobody else can tell it from Enter.
    ("shift-enter", "\x1b[13;2u", "S-Enter"),
    ("alt-backspace", "\x1b\x7f", "M-BSpace"),
    ("space", " ", "Space"),
];

/// Modes that are on when a terminal starts: wrapping, the cursor.
const ON_AT_FIRST: [&str; 2] = ["?7", "?25"];

/// What a key sends.
#[track_caller]
pub fn bytes(name: &str) -> String {
    if let Some((_, bytes, _)) = known(name) {
        return (*bytes).to_owned();
    }
    match (name.strip_prefix("ctrl-"), name.strip_prefix("alt-")) {
        (Some(letter), _) if letter.len() == 1 => {
            char::from(letter.as_bytes()[0].to_ascii_uppercase() & 0x1f).to_string()
        }
        (_, Some(letter)) if letter.chars().count() == 1 => format!("\x1b{letter}"),
        _ => panic!("no such key: {name}"),
    }
}

/// What tmux calls a key.
#[track_caller]
pub fn tmux_name(name: &str) -> String {
    match (known(name), name.strip_prefix("ctrl-"), name.strip_prefix("alt-")) {
        (Some((.., tmux)), ..) => (*tmux).to_owned(),
        (_, Some(letter), _) => format!("C-{letter}"),
        (_, _, Some(letter)) => format!("M-{letter}"),
        _ => panic!("no such key: {name}"),
    }
}

fn known(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    KEYS.iter().find(|(known, ..)| *known == name)
}

/// What a program's output has switched and not switched back: private modes as `?2004h`, the two keyboard protocols.
pub fn left_on(output: &str) -> Vec<String> {
    let (mut modes, mut kitty, mut modified) = (BTreeSet::new(), 0_usize, false);
    for sequence in output.split("\x1b[").skip(1) {
        let end = sequence.find(|character: char| ('@'..='~').contains(&character)).unwrap_or(sequence.len());
        let (parameters, last) = (&sequence[..end], sequence[end..].chars().next().unwrap_or(' '));
        match last {
            'h' | 'l' => {
                for number in parameters.strip_prefix('?').into_iter().flat_map(|numbers| numbers.split(';')) {
                    let name = format!("?{number}");
                    if (last == 'h') == ON_AT_FIRST.contains(&name.as_str()) {
                        modes.remove(&name);
                    } else {
                        modes.insert(name);
                    }
                }
            }
            'u' if parameters.starts_with('>') => kitty += 1,
            'u' if parameters.starts_with('<') => {
                kitty = kitty.saturating_sub(parameters[1..].parse().unwrap_or(1));
            }
            'm' if parameters.starts_with(">4") => modified = !matches!(parameters, ">4" | ">4;0"),
            _ => {}
        }
    }
    let left = |mode: String| if ON_AT_FIRST.contains(&mode.as_str()) { mode + "l" } else { mode + "h" };
    let mut left: Vec<_> = modes.into_iter().map(left).collect();
    left.extend((kitty > 0).then(|| "kitty keyboard".to_owned()));
    left.extend(modified.then(|| "modifyOtherKeys".to_owned()));
    left
}
