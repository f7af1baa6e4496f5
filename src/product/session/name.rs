//! Names of sessions and of the folders they lie in. Nothing is read or written.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use twox_hash::XxHash3_64;

use crate::base::text::cut;

/// The ending of session files.
pub const EXTENSION: &str = "jsonl";
/// How much of a path is kept readable: what tells projects apart stands at its end, and names have 255 bytes at most.
const READABLE_CHARS: usize = 48;

/// The id of a session that begins at `moment` (milliseconds since 1970), told apart by `salt`.
///
/// In UTC: local time costs a look at the time zone database, about a millisecond at every start.
pub fn session_id(moment: i64, salt: u16) -> String {
    let time = Offset::UTC.to_datetime(timestamp(moment));
    let (date, clock) = (time.date(), time.time());
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}-{salt:04x}",
        date.year(),
        date.month(),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}

/// The moment at which the session with this id began, to the second; the beginning of 1970 where it is no id.
pub fn moment(id: &str) -> i64 {
    let number = |digits| id.get(digits).and_then(|digits: &str| digits.parse::<i16>().ok());
    let small = |digits: Range<usize>| number(digits).and_then(|number| i8::try_from(number).ok());
    let date = || {
        let (year, month, day) = (number(0..4)?, small(4..6)?, small(6..8)?);
        DateTime::new(year, month, day, small(9..11)?, small(11..13)?, small(13..15)?, 0).ok()
    };
    let date = if is_id(id) { date() } else { None };
    date.and_then(|date| Offset::UTC.to_timestamp(date).ok()).map_or(0, Timestamp::as_millisecond)
}

/// A moment as people read it: `2026-11-30 14:05`, local time.
pub fn readable(moment: i64) -> String {
    let time = TimeZone::system().to_datetime(timestamp(moment));
    let (date, clock) = (time.date(), time.time());
    format!("{:04}-{:02}-{:02} {:02}:{:02}", date.year(), date.month(), date.day(), clock.hour(), clock.minute())
}

/// When the day of a moment began where this machine is; both in milliseconds since 1970.
pub fn midnight(moment: i64) -> i64 {
    let zone = TimeZone::system();
    let day = zone.to_datetime(timestamp(moment)).date();
    zone.to_timestamp(day.to_datetime(Time::midnight())).map_or(moment, Timestamp::as_millisecond)
}

/// The folder for sessions of a working directory: its path as far as it is readable, and a hash of all of it.
pub fn folder(cwd: &Path) -> String {
    let bytes = cwd.as_os_str().as_bytes();
    let mut readable = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '.' | '_') {
            readable.push(character);
        } else if !readable.ends_with('-') {
            readable.push('-');
        }
    }
    let readable = cut::tail(readable.trim_matches('-'), READABLE_CHARS).trim_start_matches('-');
    format!("{}-{:016x}", if readable.is_empty() { "root" } else { readable }, XxHash3_64::oneshot(bytes))
}

/// The session's id that a file's name says, if it is a session's name.
pub fn id_of(path: &Path) -> Option<&str> {
    if path.extension() != Some(OsStr::new(EXTENSION)) {
        return None;
    }
    path.file_stem().and_then(OsStr::to_str)
}

/// Whether a text has the form of a session's id.
pub fn is_id(text: &str) -> bool {
    let form = b"dddddddd-dddddd-xxxx";
    text.len() == form.len()
        && text.bytes().zip(form).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == *other,
        })
}

fn timestamp(moment: i64) -> Timestamp {
    Timestamp::from_millisecond(moment).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_the_session_began() {
        for moment in [0, 951_782_400_000, 1_796_028_350_000] {
            assert_eq!(super::moment(&session_id(moment, 7)), moment);
        }
        for text in ["", "notes", "20261301-000000-abcd", "20260101-250000-abcd", "2026é101-12000-abcd"] {
            assert_eq!(moment(text), 0, "{text}");
        }
    }

    #[test]
    fn names_are_readable_and_unique() {
        let id = session_id(1_796_028_350_123, 0xab);
        assert!(is_id(&id) && !is_id("notes") && !is_id("20260101-120000-abcg"));
        assert_eq!(id, "20261130-084550-00ab");
        assert_eq!(id_of(Path::new("/x/20260101-120000-abcd.jsonl")), Some("20260101-120000-abcd"));
        assert_eq!(id_of(Path::new("/x/y.json")), None);
        assert!(folder(Path::new("/home/me/my project")).starts_with("home-me-my-project-"));
        assert_ne!(folder(Path::new("/a/b")), folder(Path::new("/a-b")));
        assert!(folder(Path::new("/")).starts_with("root-"));
        assert!(folder(Path::new(&format!("/{}", "long/".repeat(200)))).len() < 80);
    }
}
