//! Recorded sequences, silence in the wrong places, and the property that cuts do not matter.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::front::repl::key::Report;
use crate::front::repl::key::keymap::name;

fn decoded(pieces: &[&[u8]]) -> Vec<Input> {
    decoded_by(&mut Decoder::default(), pieces)
}

fn decoded_by(decoder: &mut Decoder, pieces: &[&[u8]]) -> Vec<Input> {
    let mut out = Vec::new();
    pieces.iter().for_each(|piece| decoder.feed(piece, &mut out));
    out
}

/// An input as the corpus spells it.
fn spelt(input: &Input) -> String {
    match input {
        Input::Key(key) => name(*key),
        Input::Paste(text) => format!("paste:{}", text.replace('\n', "\\n").replace('\t', "\\t").replace(' ', "_")),
        Input::Focus(true) => "focus-in".into(),
        Input::Focus(false) => "focus-out".into(),
        Input::Report(Report::Attributes) => "attributes".into(),
        Input::Report(Report::Keyboard(flags)) => format!("keyboard-{flags}"),
        Input::Report(Report::Background { red, green, blue }) => format!("background-{red}-{green}-{blue}"),
        Input::Report(Report::Cursor { row, column }) => format!("cursor-{row}-{column}"),
        Input::Report(Report::Version(name)) => format!("version-{}", name.replace(' ', "_")),
    }
}

fn all_spelt(inputs: &[Input]) -> String {
    inputs.iter().map(spelt).collect::<Vec<_>>().join(" ")
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            bytes.extend(letter.to_string().bytes());
            continue;
        }
        match rest.next() {
            Some('e') => bytes.push(0x1b),
            Some('r') => bytes.push(b'\r'),
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('\\') => bytes.push(b'\\'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            other => panic!("\\{other:?} in {text}"),
        }
    }
    bytes
}

/// The recorded lines: whether the cursor was asked for, the bytes, what they mean.
fn corpus() -> Vec<(bool, Vec<u8>, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/keys");
    let mut lines = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            if line.starts_with('#') {
                continue;
            }
            let (bytes, meaning) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            let asked = bytes.strip_prefix("{cursor}");
            let meaning = if meaning == "nothing" { "" } else { meaning };
            lines.push((asked.is_some(), unescaped(asked.unwrap_or(bytes)), meaning.to_owned()));
        }
    }
    assert!(lines.len() > 100);
    lines
}

#[test]
fn recorded_sequences_mean_what_they_meant() {
    let mut wrong = Vec::new();
    for (asked, bytes, meaning) in corpus() {
        let whole = [bytes.as_slice()];
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let halves = (1..bytes.len()).map(|at| {
            let (one, two) = bytes.split_at(at);
            vec![one, two]
        });
        for pieces in halves.chain([whole.to_vec(), single]) {
            let mut decoder = Decoder::default();
            if asked {
                decoder.expect_cursor();
            }
            let found = all_spelt(&decoded_by(&mut decoder, &pieces));
            if found != meaning {
                wrong.push(format!("{:?}: {found}, not {meaning}", String::from_utf8_lossy(&bytes)));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn silence_decides() {
    let mut wrong = Vec::new();
    for (begun, wait, keys) in [
        ("\\e", Some(ESCAPE_WAIT), "esc"),
        ("\\e\\e", Some(ESCAPE_WAIT), "esc esc"),
        ("\\e[", Some(ESCAPE_WAIT), "alt-["),
        ("\\eO", Some(ESCAPE_WAIT), "alt-shift-o"),
        ("\\e]", Some(ESCAPE_WAIT), "alt-]"),
        ("\\eP", Some(ESCAPE_WAIT), "alt-shift-p"),
        ("\\e_", Some(ESCAPE_WAIT), "alt-_"),
        ("\\e\\e[", Some(ESCAPE_WAIT), "esc alt-["),
        ("\\e[1;5", Some(SEQUENCE_WAIT), ""),
        ("\\e[[", Some(SEQUENCE_WAIT), ""),
        ("\\e[M !", Some(SEQUENCE_WAIT), ""),
        ("\\xe5\\xa4", Some(SEQUENCE_WAIT), "\u{fffd}"),
        ("\\e]11;rgb:ff", Some(SILENCE), ""),
        ("\\e]11;rgb:ff\\e", Some(ESCAPE_WAIT), "esc"),
        ("\\e[200~", Some(SILENCE), ""),
        ("x", None, "x"),
    ] {
        let mut decoder = Decoder::default();
        let mut out = decoded_by(&mut decoder, &[&unescaped(begun)]);
        let pending = decoder.pending();
        decoder.flush(&mut out);
        if (pending, all_spelt(&out).as_str()) != (wait, keys) || decoder.pending().is_some() {
            wrong.push(format!("{begun}: {pending:?} {}", all_spelt(&out)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What happens after a paste has been silent for a second: pieces, `None` for a pause long enough to flush.
#[test]
fn a_paste_without_an_end_is_not_lost() {
    for (reads, meaning) in [
        (&[Some("\\e[200~half"), None, Some("\\r"), Some("x")][..], "paste:half enter x"),
        (&[Some("\\e[200~half"), None, Some("\\x03"), Some("x")], "paste:half ctrl-c x"),
        (&[Some("\\e[200~half"), None, Some("\\e"), None, Some("x")], "paste:half esc x"),
        // The line was slow, no more: its line ends still submit nothing.
        (&[Some("\\e[200~a\\rb"), None, Some("c\\rd"), Some("\\e[201~x")], "paste:a\\nb paste:c\\nd x"),
        (&[Some("\\e[200~ab\\e[2"), None, Some("01~x")], "paste:ab x"),
        (&[Some("\\e[200~a"), None, Some("b"), None, Some("c\\e[201~"), Some("d")], "paste:a paste:b paste:c d"),
        (&[Some("\\e[200~a"), None, Some("b\\x03c")], "paste:a paste:b ctrl-c c"),
    ] {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for read in reads {
            match read {
                Some(text) => decoder.feed(&unescaped(text), &mut out),
                None => {
                    assert!(decoder.pending().is_some());
                    decoder.flush(&mut out);
                }
            }
        }
        assert_eq!(all_spelt(&out), meaning, "{reads:?}");
    }
}

#[test]
fn a_terminal_that_sends_0x08_for_backspace() {
    assert_eq!(
        all_spelt(&decoded_by(&mut Decoder::new(8), &[b"\x08\x7f\x1b\x08"])),
        "backspace backspace alt-backspace"
    );
    assert_eq!(all_spelt(&decoded_by(&mut Decoder::new(0x7f), &[b"\x08\x7f"])), "ctrl-h backspace");
}

#[test]
fn a_string_without_an_end_takes_no_memory() {
    for opener in ["\x1b]11;", "\x1bP>|", "\x1b[", "\x1bO"] {
        let mut decoder = Decoder::default();
        let endless = [opener.as_bytes(), &b"1".repeat(1 << 20)].concat();
        assert_eq!(decoded_by(&mut decoder, &[&endless]), []);
        assert!(decoder.kept.capacity() <= 2 * KEPT_BYTES);
        assert_eq!(all_spelt(&decoded_by(&mut decoder, &[b"\x03x"])), "ctrl-c x", "{opener:?}");
    }
}

#[test]
fn a_large_paste_is_whole_and_quick() {
    let line = "a line of text with ü and 天\r\n".repeat(100_000);
    let bytes = [b"\x1b[200~".as_slice(), line.as_bytes(), END_AND_MORE].concat();
    let out = decoded(&bytes.chunks(97).collect::<Vec<_>>());
    let [Input::Paste(text), last] = out.as_slice() else { panic!("{} inputs", out.len()) };
    assert!(*text == line.replace("\r\n", "\n"));
    assert_eq!(*last, plain(Code::Enter));
}

const END_AND_MORE: &[u8] = b"\x1b[201~\r";

// Encoders, written from the protocols' descriptions and not from the decoder.

fn modifier(mods: Mods) -> u32 {
    1 + u32::from(mods.shift) + 2 * u32::from(mods.alt) + 4 * u32::from(mods.ctrl)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is as xterm writes it")]
fn kitty(key: Key) -> String {
    let number = modifier(key.mods);
    match key.code {
        Code::Char(letter) => {
            let lower = letter.to_lowercase().next().unwrap();
            let shift = u32::from(lower != letter);
            format!("\x1b[{}:{}::{}u", u32::from(lower), u32::from(letter), number + shift).replace("::", ";")
        }
        Code::Enter => format!("\x1b[13;{number}u"),
        Code::Tab => format!("\x1b[9;{number}u"),
        Code::Backspace => format!("\x1b[127;{number}u"),
        Code::Esc => format!("\x1b[27;{number}u"),
        Code::Function(count) if count > 12 => format!("\x1b[{};{number}u", 57376 + u32::from(count) - 13),
        _ => xterm(key).unwrap(),
    }
}

fn xterm(key: Key) -> Option<String> {
    let number = modifier(key.mods);
    let lettered = |last: char| format!("\x1b[1;{number}{last}");
    let tilde = |code: u32| format!("\x1b[{code};{number}~");
    Some(match key.code {
        Code::Up => lettered('A'),
        Code::Down => lettered('B'),
        Code::Right => lettered('C'),
        Code::Left => lettered('D'),
        Code::End => lettered('F'),
        Code::Home => lettered('H'),
        Code::Insert => tilde(2),
        Code::Delete => tilde(3),
        Code::PageUp => tilde(5),
        Code::PageDown => tilde(6),
        Code::Function(count @ 1..=4) => lettered(char::from(b'P' + count - 1)),
        Code::Function(count @ 5..=12) => tilde([15, 17, 18, 19, 20, 21, 23, 24][usize::from(count) - 5]),
        Code::Char(_) | Code::Enter | Code::Tab | Code::Backspace | Code::Esc | Code::Function(_) => return None,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is as xterm writes it")]
fn other_keys(key: Key) -> Option<String> {
    let code = match key.code {
        Code::Char(letter) => u32::from(letter),
        Code::Enter => 13,
        Code::Tab => 9,
        Code::Backspace => 127,
        Code::Esc => 27,
        _ => return xterm(key),
    };
    Some(format!("\x1b[27;{};{code}~", modifier(key.mods)))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is as xterm writes it")]
fn legacy(key: Key) -> Option<Vec<u8>> {
    let Mods { ctrl, alt, shift } = key.mods;
    let byte = match key.code {
        Code::Char(letter @ 'a'..='z') if ctrl && !shift && !['h', 'i', 'm'].contains(&letter) => letter as u8 & 0x1f,
        Code::Char(letter @ 'a'..='z') if shift && !ctrl => letter.to_ascii_uppercase() as u8,
        Code::Char(letter) if letter.is_ascii() && !ctrl && !shift => letter as u8,
        Code::Enter if !ctrl && !shift => b'\r',
        Code::Tab if !ctrl && !shift => b'\t',
        Code::Backspace if !ctrl && !shift => 0x7f,
        _ => return xterm(key).map(String::into_bytes),
    };
    let begins = alt && b"[OPX]^_".contains(&byte);
    (!begins).then(|| if alt { vec![0x1b, byte] } else { vec![byte] })
}

fn any_key() -> impl Strategy<Value = Key> {
    let code = prop_oneof![
        prop::sample::select("abcdefghijklmnopqrstuvwxyz0123456789-=;',./<>_ ".chars().collect::<Vec<_>>())
            .prop_map(Code::Char),
        prop::sample::select(vec![
            Code::Enter,
            Code::Tab,
            Code::Backspace,
            Code::Delete,
            Code::Insert,
            Code::Esc,
            Code::Up,
            Code::Down,
            Code::Left,
            Code::Right,
            Code::Home,
            Code::End,
            Code::PageUp,
            Code::PageDown,
        ]),
        (1u8..=12).prop_map(Code::Function),
    ];
    (code, any::<[bool; 3]>()).prop_map(|(code, [ctrl, alt, shift])| {
        // Shift with a character is part of the key only where Ctrl or Alt names a letter.
        let letter = matches!(code, Code::Char('a'..='z'));
        let shift = shift && (!matches!(code, Code::Char(_)) || letter && (ctrl || alt));
        Key { code, mods: Mods { ctrl, alt, shift } }
    })
}

fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(corpus()).prop_map(|(_, bytes, _)| bytes),
        prop::collection::vec(any::<u8>(), 0..8),
        "[\u{1b}\\[\\]OPM?;:<$~0-9a-z\r\n\u{7}\\\\é天]{0,12}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn cuts_do_not_matter(bytes in terminal_bytes(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = decoded(&[&bytes]);
        prop_assert_eq!(&decoded(&bytes.chunks(1).collect::<Vec<_>>()), &whole);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&decoded(&pieces), &whole);
    }

    #[test]
    fn nothing_harmful_comes_out(bytes in terminal_bytes(), flushes in prop::collection::vec(any::<bool>(), 8)) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for (piece, flush) in bytes.chunks(5).zip(flushes.into_iter().cycle()) {
            decoder.feed(piece, &mut out);
            if flush && decoder.pending().is_some() {
                decoder.flush(&mut out);
            }
        }
        for input in out {
            match input {
                Input::Key(Key { code: Code::Char(letter), .. }) => prop_assert!(!letter.is_control()),
                Input::Paste(text) => {
                    prop_assert!(text.chars().all(|letter| !letter.is_control() || letter == '\n' || letter == '\t'));
                }
                Input::Key(_) | Input::Focus(_) | Input::Report(_) => {}
            }
        }
    }

    #[test]
    fn keys_come_back_as_they_were(key in any_key()) {
        let once = |bytes: &[u8]| decoded(&[bytes]);
        prop_assert_eq!(once(kitty(key).as_bytes()), [Input::Key(key)]);
        for encoded in [xterm(key), other_keys(key)].into_iter().flatten() {
            prop_assert_eq!(once(encoded.as_bytes()), [Input::Key(key)]);
        }
        if let Some(encoded) = legacy(key) && encoded != b"\x1b" {
            prop_assert_eq!(once(&encoded), [Input::Key(key)]);
        }
    }

    #[test]
    fn text_comes_back_as_it_was(text in "\\PC{0,40}") {
        let typed: String = decoded(&[text.as_bytes()]).iter().filter_map(|input| match input {
            Input::Key(key) => key.typed(),
            Input::Paste(_) | Input::Focus(_) | Input::Report(_) => None,
        }).collect();
        prop_assert_eq!(typed, text);
    }
}
