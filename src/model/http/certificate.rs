//! Who signed a certificate, in words: as much of X.509 as that takes (RFC 5280, 4.1).
//!
//! Judges nothing, and trusts no length it reads.

use crate::model::provider::failure::one_line;

/// Object identifiers of the parts of a name (RFC 5280, appendix A.1), as DER has them.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0a];

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The version, `[0]`, which the first version does not write.
const VERSION: u8 = 0xa0;
const BMP_STRING: u8 = 0x1e;
const UTF8_STRING: u8 = 0x0c;

/// Who signed a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// Itself; its name.
    Itself(String),
    /// Somebody of this name.
    Other(String),
}

/// The issuer of a certificate in DER; `None` if it cannot be read.
pub fn issuer(der: &[u8]) -> Option<Issuer> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if let Some((_, after)) = element(fields, VERSION) {
        fields = after;
    }
    let (_, fields) = element(fields, INTEGER)?;
    let (_, fields) = element(fields, SEQUENCE)?;
    let (issuer, fields) = element(fields, SEQUENCE)?;
    let (_, fields) = element(fields, SEQUENCE)?;
    let (subject, _) = element(fields, SEQUENCE)?;
    let name = name(issuer);
    Some(if issuer == subject { Issuer::Itself(name) } else { Issuer::Other(name) })
}

/// A distinguished name as people know it: the common name, with the organisation if that says more.
fn name(mut relative: &[u8]) -> String {
    let (mut common, mut organisation) = (String::new(), String::new());
    while let Some((mut attributes, after)) = element(relative, SET) {
        while let Some((attribute, next)) = element(attributes, SEQUENCE) {
            if let Some((kind, value)) = element(attribute, OBJECT_IDENTIFIER) {
                match kind {
                    COMMON_NAME => common = text(value),
                    ORGANISATION => organisation = text(value),
                    _ => {}
                }
            }
            attributes = next;
        }
        relative = after;
    }
    match (common.is_empty(), organisation.is_empty()) {
        (true, true) => "somebody without a name".to_owned(),
        (true, false) => organisation,
        (false, _) if organisation.is_empty() || common.contains(&organisation) => common,
        (false, _) => format!("{common} ({organisation})"),
    }
}

/// A string of any kind.
fn text(value: &[u8]) -> String {
    let Some((kind, content, _)) = first(value) else { return String::new() };
    let text = match kind {
        BMP_STRING => {
            let units: Vec<u16> = content.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        UTF8_STRING => String::from_utf8_lossy(content).into_owned(),
        // ASCII, or Latin-1 in old ones.
        _ => content.iter().map(|byte| char::from(*byte)).collect(),
    };
    one_line(&text)
}

/// The content of the element of this kind that `bytes` begin with, and what comes after it.
fn element(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    first(bytes).filter(|(kind, ..)| *kind == wanted).map(|(_, content, after)| (content, after))
}

/// The kind and content of the first element, and what comes after it.
fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        // No certificate has four gigabytes.
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some((kind, content, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rcgen::{CertificateParams, DnType, DnValue, Issuer as Signer, KeyPair};

    fn named(parts: &[(DnType, DnValue)]) -> CertificateParams {
        let mut params = CertificateParams::new(vec!["host".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in parts {
            params.distinguished_name.push(kind.clone(), value.clone());
        }
        params
    }

    fn utf8(text: &str) -> DnValue {
        DnValue::Utf8String(text.to_owned())
    }

    #[test]
    fn an_issuer_is_named() {
        let both = [(DnType::OrganizationName, utf8("Zürich Inc.")), (DnType::CommonName, utf8("Proxy\u{7} Root"))];
        let authority = Signer::new(named(&both), KeyPair::generate().unwrap());
        let leaf = named(&[(DnType::CommonName, utf8("leaf"))]);
        let leaf = leaf.signed_by(&KeyPair::generate().unwrap(), &authority).unwrap();
        let Some(Issuer::Other(name)) = issuer(leaf.der()) else { panic!() };
        assert!(name.starts_with("Proxy") && name.ends_with("Root (Zürich Inc.)") && !name.contains('\u{7}'), "{name}");
        let wide = DnValue::BmpString("wide".try_into().unwrap());
        for (parts, expected) in [
            (&[(DnType::CommonName, wide)][..], "wide"),
            (&[(DnType::OrganizationName, utf8("Only"))], "Only"),
            (&[(DnType::OrganizationName, utf8("X")), (DnType::CommonName, utf8("X Root"))], "X Root"),
            (&[], "somebody without a name"),
        ] {
            let own = named(parts).self_signed(&KeyPair::generate().unwrap()).unwrap();
            assert_eq!(issuer(own.der()), Some(Issuer::Itself(expected.to_owned())));
            let der = own.der();
            for end in 0..der.len() {
                assert_eq!(issuer(&der[..end]), None, "whatever is cut is not read");
            }
        }
    }

    proptest! {
        #[test]
        fn nonsense_is_no_trap(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = issuer(&bytes);
            let _ = name(&bytes);
        }
    }
}
