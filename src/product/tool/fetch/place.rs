//! An address as a model writes it, in the one form that rules are held against; and where a redirect may lead.
//!
//! Pure; asks nobody.

use std::net::IpAddr;

use crate::kernel::tool::echo;
use crate::model::http::Url;

/// Bytes of an address: more than any server takes, as a rule, and what is longer is data on its way out.
const MOST_BYTES: usize = 4_096;

/// Reads an address: http or https, with a host, without a user; the fragment, which no server sees, is left out. One
/// without a scheme is taken for https.
///
/// # Errors
///
/// What is wrong with it, in words for the model.
pub fn normal(written: &str) -> Result<Url, String> {
    let written = written.trim();
    if written.len() > MOST_BYTES {
        return Err(format!("`url` is longer than {MOST_BYTES} bytes"));
    }
    let whole = if written.contains("://") { written.to_owned() } else { format!("https://{written}") };
    let wrong = |problem: &str| {
        format!("`url` is no address that can be fetched: {problem}: {}; expected https://host/path", echo(written))
    };
    let mut url = Url::parse(&whole).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("only http and https are fetched"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it holds a user or a password, which are not sent"));
    }
    url.set_fragment(None);
    // A name that ends in a dot is the same name, and no rule expects it.
    let host = host(&url).trim_end_matches('.').to_owned();
    if host.is_empty() {
        return Err(wrong("it names no host"));
    }
    if url.host_str().is_some_and(|host| host.ends_with('.')) {
        url.set_host(Some(&host)).map_err(|error| wrong(&error.to_string()))?;
    }
    match url.as_str().len() > MOST_BYTES {
        true => Err(format!("`url` is longer than {MOST_BYTES} bytes")),
        false => Ok(url),
    }
}

/// The host, in lower case, one of IPv6 without its brackets.
pub fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// The host, where it is an address and no name.
pub fn literal(url: &Url) -> Option<IpAddr> {
    host(url).parse().ok()
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// To the same server, or from http to https there.
    Same(Url),
    /// To another one, which is another question.
    Other(Url),
}

/// Reads a redirect from `url` to `location`.
///
/// # Errors
///
/// What is wrong with the location, in words for the model.
pub fn lead(url: &Url, location: &str) -> Result<Lead, String> {
    let wrong = |problem: String| format!("{url} redirects to what cannot be fetched: {problem}");
    let joined = url.join(location.trim()).map_err(|error| wrong(format!("{error}: {}", echo(location))))?;
    let next = normal(joined.as_str()).map_err(wrong)?;
    let same_port = next.port_or_known_default() == url.port_or_known_default();
    let is_same = match (url.scheme(), next.scheme()) {
        ("http", "https") => same_port || (url.port().is_none() && next.port().is_none()),
        (from, to) => from == to && same_port,
    };
    Ok(if is_same && host(&next) == host(url) { Lead::Same(next) } else { Lead::Other(next) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_has_one_form() {
        for (written, expected) in [
            ("https://docs.rs", "https://docs.rs/"),
            (" HTTPS://Docs.RS:443/a/../b#c ", "https://docs.rs/b"),
            ("docs.rs/serde", "https://docs.rs/serde"),
            ("example.org:8080/x?y=z", "https://example.org:8080/x?y=z"),
            ("https://docs.rs./x", "https://docs.rs/x"),
            ("https://docs.rs\n.evil.com/", "https://docs.rs.evil.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433", "http://127.0.0.1/"),
            ("http://[::FFFF:7f00:1]/", "http://[::ffff:7f00:1]/"),
            ("http://\u{ff11}27.0.0.1/", "http://127.0.0.1/"),
            ("https://b\u{fc}cher.de/", "https://xn--bcher-kva.de/"),
        ] {
            assert_eq!(normal(written).map(|url| url.to_string()).as_deref(), Ok(expected), "{written:?}");
        }
        for (written, words) in [
            ("", "expected https://host/path"),
            ("file:///etc/passwd", "only http and https"),
            ("ftp://h/x", "only http and https"),
            ("https://docs.rs@evil.com/", "a user or a password"),
            ("https://:pw@h/", "a user or a password"),
            ("https://", "expected"),
            ("https://./", "no host"),
            ("https://a b/", "expected"),
            ("gopher://x", "only http"),
        ] {
            let problem = normal(written).unwrap_err();
            assert!(problem.contains(words), "{written}: {problem}");
        }
        assert!(normal(&format!("https://h/{}", "x".repeat(5_000))).unwrap_err().contains("longer than"));
        assert!(normal(&format!("https://h/{}", "ä".repeat(1_000))).unwrap_err().contains("longer than"));
    }

    #[test]
    fn a_redirect_stays_with_its_server_or_is_another_question() {
        let to = |from: &str, location: &str| match lead(&Url::parse(from).unwrap(), location) {
            Ok(Lead::Same(url)) => format!("same {url}"),
            Ok(Lead::Other(url)) => format!("other {url}"),
            Err(problem) => problem,
        };
        for (from, location, expected) in [
            ("https://h/a/b", "c", "same https://h/a/c"),
            ("https://h/a", "//h/c#d", "same https://h/c"),
            ("http://h/a", "https://h/a", "same https://h/a"),
            ("http://h:80/a", "https://H./a", "same https://h/a"),
            ("http://h:8080/a", "https://h/a", "other https://h/a"),
            ("https://h/a", "http://h/a", "other http://h/a"),
            ("https://h/a", "https://www.h/a", "other https://www.h/a"),
            ("https://h/a", "https://h:8443/", "other https://h:8443/"),
            ("https://h/a", "//evil/", "other https://evil/"),
            ("http://h/a", "http://127.0.0.1:9/", "other http://127.0.0.1:9/"),
        ] {
            assert_eq!(to(from, location), expected);
        }
        for location in ["file:///etc/passwd", "javascript:alert(1)", "https://u:p@h/", "http://"] {
            assert!(to("https://h/", location).contains("cannot be fetched"), "{location}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_is_done_once(written in "\\PC{0,60}", path in "[a-z0-9.:/@\\[\\]%#?\\\\-]{0,40}") {
            for written in [written.clone(), format!("https://{path}"), format!("http:{path}"), path.clone()] {
                if let Ok(url) = normal(&written) {
                    prop_assert!(matches!(url.scheme(), "http" | "https") && !host(&url).is_empty());
                    prop_assert_eq!(normal(url.as_str()), Ok(url.clone()));
                    let _ = lead(&url, &path);
                }
            }
        }
    }
}
