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

/// How long something took: `0.1 s`, `12 s`, `3 m 20 s`, `2 h 5 m`. Tenths below ten seconds, whole seconds above.
pub fn took(duration: Duration) -> String {
    match duration.as_millis() {
        millis @ 0..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => elapsed(duration),
    }
}

/// How long something has been going on, in whole seconds: `0 s`, `14 s`, `3 m 20 s`, `2 h 5 m`.
pub fn elapsed(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A number of tokens, to two or three digits: `999`, `1.2k`, `18k`, `200k`, `1.5M`. Cut, not rounded up.
pub fn tokens(tokens: u64) -> String {
    let short = |unit: u64, name: &str| match (tokens / unit, tokens % unit * 10 / unit) {
        (whole @ 0..10, tenth @ 1..) => format!("{whole}.{tenth}{name}"),
        (whole, _) => format!("{whole}{name}"),
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => short(1_000, "k"),
        1_000_000..1_000_000_000 => short(1_000_000, "M"),
        _ => short(1_000_000_000, "G"),
    }
}

/// An amount of US dollars: `$0.02`, `$12.50`, `$140`; `<$0.01` for what is more than nothing.
pub fn dollars(amount: f64) -> String {
    match amount {
        amount if amount > 0.0 && amount < 0.005 => "<$0.01".to_owned(),
        amount if amount < 99.995 => format!("${:.2}", amount.max(0.0)),
        amount => format!("${amount:.0}"),
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

    #[test]
    fn durations_are_short() {
        let said = |millis: u64| (took(Duration::from_millis(millis)), elapsed(Duration::from_millis(millis)));
        for (millis, took, elapsed) in [
            (0, "0.0 s", "0 s"),
            (120, "0.1 s", "0 s"),
            (9_999, "9.9 s", "9 s"),
            (12_345, "12 s", "12 s"),
            (59_999, "59 s", "59 s"),
            (200_000, "3 m 20 s", "3 m 20 s"),
            (7_500_000, "2 h 5 m", "2 h 5 m"),
        ] {
            assert_eq!(said(millis), (took.to_owned(), elapsed.to_owned()));
        }
    }

    #[test]
    fn tokens_and_money_are_short() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_250, "1.2k"),
            (9_999, "9.9k"),
            (18_432, "18k"),
            (200_000, "200k"),
            (999_999, "999k"),
            (1_000_000, "1M"),
            (1_048_576, "1M"),
            (1_500_000, "1.5M"),
            (u64::MAX, "18446744073G"),
        ] {
            assert_eq!(tokens(number), expected);
        }
        for (amount, expected) in [
            (0.0, "$0.00"),
            (0.001, "<$0.01"),
            (0.0049, "<$0.01"),
            (0.005, "$0.01"),
            (0.0243, "$0.02"),
            (12.5, "$12.50"),
            (99.994, "$99.99"),
            (140.2, "$140"),
            (-1.0, "$0.00"),
        ] {
            assert_eq!(dollars(amount), expected, "{amount}");
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
