//! Numbers as people and models read them: counts with their nouns, sizes, waits. English, the same everywhere.

use std::time::Duration;

/// A number with its thousands apart: `2,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and what it counts: `1 file`, `2,345 files`, `2 matches`, `3 entries`.
pub fn count(number: u64, noun: &str) -> String {
    let number_text = grouped(number);
    if number == 1 {
        return format!("{number_text} {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number_text} {stem}ies"),
        _ if ["ch", "sh", "s", "x"].iter().any(|end| noun.ends_with(end)) => format!("{number_text} {noun}es"),
        _ => format!("{number_text} {noun}s"),
    }
}

/// A size in bytes, powers of ten: `12 B`, `3.4 KB`, `11 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // Tenths of the unit, so that no float is needed.
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    let name = UNITS.get(unit).unwrap_or(&"TB");
    if tenths >= 100 { format!("{} {name}", tenths / 10) } else { format!("{}.{} {name}", tenths / 10, tenths % 10) }
}

/// A wait, rounded up: `4 s`, `12 min`, `3 h 20 min`.
pub fn wait(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 9_999, 10_400, 1_000_000, 11_534_336].map(size),
            ["0 B", "999 B", "1.0 KB", "9.9 KB", "10 KB", "1.0 MB", "11 MB"]
        );
        assert_eq!(size(u64::MAX), "18446744 TB");
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "match") + " " + &count(2, "match"), "1 match 2 matches");
        assert_eq!(count(1, "entry") + " " + &count(1200, "entry"), "1 entry 1,200 entries");
        assert_eq!([count(0, "file"), count(2, "key"), count(2, "box")], ["0 files", "2 keys", "2 boxes"]);
    }

    #[test]
    fn waits_are_rounded_up() {
        for (seconds, expected) in
            [(0.2, "1 s"), (4.0, "4 s"), (119.0, "119 s"), (720.0, "12 min"), (12_000.0, "3 h 20 min")]
        {
            assert_eq!(wait(Duration::from_secs_f64(seconds)), expected);
        }
    }

    proptest! {
        #[test]
        fn grouping_adds_commas_alone(number: u64) {
            let text = grouped(number);
            prop_assert_eq!(text.replace(',', ""), number.to_string());
            prop_assert!(text.split(',').skip(1).all(|group| group.len() == 3));
        }
    }
}
