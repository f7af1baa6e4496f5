//! What stands at a path: nothing, a folder, a link, a file with its content; and how that is written down.
//!
//! Contents themselves are elsewhere (`objects`); nothing here touches the disk.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The owner's right to execute a file: the one bit of a mode that a change of is kept and taken back.
const EXECUTABLE: u32 = 0o100;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum State {
    /// Nothing.
    Absent,
    /// A folder; what is in it has paths of its own.
    Folder,
    /// A symbolic link, by where it leads.
    Link {
        /// As it is written in the link.
        target: Name,
    },
    /// A regular file.
    File {
        /// What it holds.
        content: Content,
        /// The permission bits.
        mode: u32,
    },
    /// A pipe, a socket, a device: nothing that is ever kept or made.
    Special,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// What is kept under this hash.
    Kept(Digest),
    /// What git keeps under this id.
    Git(String),
    /// What is not kept: more than is kept of one file, or what may not be read.
    Large {
        /// How much.
        bytes: u64,
        /// When it was changed last, in nanoseconds since 1970: all that tells one large content from another.
        modified: i64,
    },
    /// What git kept and has no more.
    Lost,
}

impl State {
    /// Whether both are the same to a person: of the mode only the executable bit counts.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { content, .. }, Self::File { content: other_content, .. }) => {
                content == other_content && self.is_executable() == other.is_executable()
            }
            (Self::Absent | Self::Folder | Self::Link { .. } | Self::File { .. } | Self::Special, _) => self == other,
        }
    }

    /// Whether it is a file whose owner may execute it.
    pub fn is_executable(&self) -> bool {
        match self {
            Self::File { mode, .. } => mode & EXECUTABLE != 0,
            Self::Absent | Self::Folder | Self::Link { .. } | Self::Special => false,
        }
    }

    /// The hash of a file that is kept.
    pub fn digest(&self) -> Option<&Digest> {
        match self {
            Self::File { content: Content::Kept(digest), .. } => Some(digest),
            Self::File { .. } | Self::Absent | Self::Folder | Self::Link { .. } | Self::Special => None,
        }
    }
}

/// A SHA-256; on disk in lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Digest {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        if text.len() != 2 * digest.len() {
            return None;
        }
        for (place, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(Self(digest))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected a SHA-256"))
    }
}

/// A path, whatever its bytes; on disk a string, or an object with base64 where it is none. Compared byte by byte, which puts
/// a folder before what is in it and takes a tenth of the time.
#[derive(Clone)]
pub struct Name(pub PathBuf);

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl Name {
    /// Whether it stays below a root and outside of repositories' own folders, as it is written.
    pub fn is_inner(&self) -> bool {
        let mut parts = self.0.components().peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }

    /// As people read it.
    pub fn shown(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl AsRef<Path> for Name {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum NameForm {
    Text(String),
    Bytes { base64: String },
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => NameForm::Bytes { base64: BASE64.encode(self.bytes()) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match NameForm::deserialize(deserializer)? {
            NameForm::Text(text) => text.into(),
            NameForm::Bytes { base64 } => {
                let bytes = BASE64.decode(base64).map_err(serde::de::Error::custom)?;
                OsString::from_vec(bytes).into()
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_being_written_down() {
        let digest = Digest([0xab; 32]);
        let states = [
            State::Absent,
            State::Folder,
            State::Special,
            State::Link { target: Name("../x".into()) },
            State::Link { target: Name(OsString::from_vec(b"\xff\xfe".to_vec()).into()) },
            State::File { content: Content::Kept(digest), mode: 0o755 },
            State::File { content: Content::Git("00ff".into()), mode: 0o644 },
            State::File { content: Content::Large { bytes: 1, modified: -2 }, mode: 0o600 },
            State::File { content: Content::Lost, mode: 0 },
        ];
        for state in states {
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state, "{text}");
        }
        let file = State::File { content: Content::Kept(digest), mode: 0o644 };
        let text = format!(r#"{{"kind":"file","content":{{"kept":"{}"}},"mode":420}}"#, "ab".repeat(32));
        assert_eq!(serde_json::to_string(&file).unwrap(), text);
    }

    #[test]
    fn of_a_mode_only_the_executable_bit_tells_files_apart() {
        let file = |mode| State::File { content: Content::Lost, mode };
        assert!(file(0o644).is_like(&file(0o600)) && file(0o755).is_like(&file(0o700)));
        assert!(!file(0o644).is_like(&file(0o755)) && !file(0o644).is_like(&State::Absent));
    }

    #[test]
    fn a_name_stays_inside() {
        for (path, inner) in [("a/b", true), ("", false), ("/a", false), ("a/../b", false), ("a/.git/config", false)] {
            assert_eq!(Name(path.into()).is_inner(), inner, "{path:?}");
        }
    }
}
