//! The local time zone, from the one file that describes it.
//!
//! Never lists the system's database of zones: that takes a millisecond of a start that has six.

use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use super::env::Env;

/// Where systems keep their zones; `TZDIR` comes before.
const FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];

/// The zone of a machine that sets no `TZ` (localtime(5)).
const LOCAL: &str = "/etc/localtime";

/// The most of a zone's file that is read; the largest have 4 KiB.
const FILE_BYTES: u64 = 64 * 1024;

/// What `TZ` says (POSIX: a file, a name, or a rule such as `CET-1CEST`), else the machine's zone, else UTC.
pub fn local(env: &Env) -> TimeZone {
    let zone = match env.var("TZ").map(|value| value.trim_start_matches(':')) {
        None => file(Path::new(LOCAL)),
        Some(path) if path.starts_with('/') => file(Path::new(path)),
        Some(name) => named(env, name).or_else(|| TimeZone::posix(name).ok()),
    };
    zone.unwrap_or(TimeZone::UTC)
}

fn named(env: &Env, name: &str) -> Option<TimeZone> {
    if name.split('/').any(|part| part == "..") {
        return None;
    }
    let folders = env.var("TZDIR").into_iter().chain(FOLDERS);
    folders.map(|folder| PathBuf::from(folder).join(name)).find_map(|path| file(&path))
}

fn file(path: &Path) -> Option<TimeZone> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
    TimeZone::tzif("local", &bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    /// A zone as tzfile(5) has it: one type of local time, `hours` east of Greenwich.
    fn tzif(hours: i32) -> Vec<u8> {
        let mut bytes = b"TZif".to_vec();
        bytes.extend([0; 16]);
        for count in [0_u32, 0, 0, 0, 1, 4] {
            bytes.extend(count.to_be_bytes());
        }
        bytes.extend((hours * 3600).to_be_bytes());
        bytes.extend(*b"\0\0ABC\0");
        bytes
    }

    fn hour(vars: &[(&str, &str)]) -> i8 {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let env = Env { vars, ..Env::default() };
        local(&env).to_datetime(Timestamp::UNIX_EPOCH).hour()
    }

    #[test]
    fn a_zone_is_a_file_a_name_or_a_rule() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_str().unwrap();
        std::fs::create_dir(folder.path().join("Area")).unwrap();
        std::fs::write(folder.path().join("Area/City"), tzif(5)).unwrap();
        std::fs::write(folder.path().join("broken"), "TZif and no more").unwrap();
        assert_eq!(hour(&[("TZ", &format!("{top}/Area/City"))]), 5);
        assert_eq!(hour(&[("TZ", ":Area/City"), ("TZDIR", top)]), 5);
        assert_eq!(hour(&[("TZ", "XYZ-7")]), 7);
        for unknown in ["Area", "broken", "../x/Area/City", "/nowhere", ":", "Area/Village"] {
            assert_eq!(hour(&[("TZ", unknown), ("TZDIR", top)]), 0, "{unknown}");
        }
    }
}
