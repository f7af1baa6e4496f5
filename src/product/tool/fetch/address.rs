//! Which addresses belong to the web: everything that leads back into a machine, a home, a company or a cloud's own
//! services does not.
//!
//! Pure; looks no name up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that are not for everybody, and what they are for: IANA's registry of special-purpose addresses
/// <https://www.iana.org/assignments/iana-ipv4-special-registry>, multicast, and two that clouds keep their secrets at.
const SPECIAL_V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this machine's"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private network's"),
    // Alibaba Cloud.
    (Ipv4Addr::new(100, 100, 100, 200), 32, "a cloud's metadata"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "a provider's own network's"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "this machine's"),
    // Azure.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's metadata"),
    (Ipv4Addr::new(169, 254, 169, 254), 32, "a cloud's metadata"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private network's"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay's"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private network's"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a test network's"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "a documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved"),
];

/// Within global unicast, 2000::/3: <https://www.iana.org/assignments/iana-ipv6-special-registry>. What stands for an
/// address of IPv4 is judged as that, but for Teredo, whose address is another's.
const SPECIAL_V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "a reserved"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "a documentation"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "a documentation"),
];

/// What is before `address` in "… address" where it is none of the web's; `None` where it is one.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => special_v4(inner),
            None => special_v6(address),
        },
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let is_in = |network: Ipv4Addr, bits: u32| {
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        address.to_bits() & mask == network.to_bits() & mask
    };
    SPECIAL_V4.iter().find(|(network, bits, _)| is_in(*network, *bits)).map(|(_, _, what)| *what)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let is_in = |network: Ipv6Addr, bits: u32| {
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        address.to_bits() & mask == network.to_bits() & mask
    };
    if let Some((_, _, what)) = SPECIAL_V6.iter().find(|(network, bits, _)| is_in(*network, *bits)) {
        return Some(what);
    }
    let [first, ..] = address.segments();
    match first {
        // Global unicast, all of it.
        0x2000..=0x3fff => None,
        0xfc00..=0xfdff => Some("a private network's"),
        0xfe80..=0xfebf => Some("a link-local"),
        0xff00..=0xffff => Some("a multicast"),
        _ if address.is_loopback() || address.is_unspecified() => Some("this machine's"),
        _ => Some("a reserved"),
    }
}

/// The address of IPv4 that one of IPv6 stands for: mapped (`::ffff:0:0/96`), translated (`64:ff9b::/96`, RFC 6052) or
/// by 6to4 (`2002::/16`, RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(join(high, low))
        }
        _ => None,
    }
}

/// Whether a name is one that only a local network knows; a proxy would look it up in its own.
pub fn is_local_name(host: &str) -> bool {
    const LOCAL: [&str; 8] = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa"];
    match host.rsplit_once('.') {
        None => true,
        Some((_, last)) => LOCAL.contains(&last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_web_is_what_is_left() {
        let web = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "2001:200::1",
            "::ffff:1.1.1.1",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "3ffe::1",
        ];
        for address in web {
            assert_eq!(special(address.parse().unwrap()), None, "{address}");
        }
    }

    fn are_closed(own: &[(&str, &str)]) {
        for (address, what) in own {
            let found = special(address.parse().unwrap()).unwrap_or_default();
            assert!(found.contains(what), "{address}: {found}");
        }
    }

    #[test]
    fn what_belongs_to_somebody_is_closed() {
        are_closed(&[
            ("0.0.0.0", "machine"),
            ("0.1.2.3", "machine"),
            ("10.0.0.1", "private"),
            ("10.255.255.255", "private"),
            ("100.64.0.1", "provider"),
            ("100.127.255.255", "provider"),
            ("100.100.100.200", "metadata"),
            ("127.0.0.1", "machine"),
            ("127.255.0.1", "machine"),
            ("168.63.129.16", "metadata"),
            ("169.254.0.1", "link-local"),
            ("169.254.169.254", "metadata"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.8", "reserved"),
            ("192.0.2.1", "documentation"),
            ("192.88.99.1", "relay"),
            ("192.168.1.1", "private"),
            ("198.18.0.1", "test"),
            ("198.19.255.255", "test"),
            ("198.51.100.7", "documentation"),
            ("203.0.113.9", "documentation"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.250", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "reserved"),
        ]);
    }

    #[test]
    fn and_so_it_is_in_the_new_protocol() {
        are_closed(&[
            ("::", "machine"),
            ("::1", "machine"),
            ("::2", "reserved"),
            ("::7f00:1", "reserved"),
            ("::ffff:127.0.0.1", "machine"),
            ("::ffff:10.1.2.3", "private"),
            ("::ffff:169.254.169.254", "metadata"),
            ("64:ff9b::a00:1", "private"),
            ("64:ff9b::7f00:1", "machine"),
            ("64:ff9b:1::1", "reserved"),
            ("100::1", "reserved"),
            ("2001::1", "reserved"),
            ("2001:2::1", "reserved"),
            ("2001:20::1", "reserved"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "machine"),
            ("2002:a9fe:a9fe::1", "metadata"),
            ("3fff::1", "documentation"),
            ("5f00::1", "reserved"),
            ("fc00::1", "private"),
            ("fd00:ec2::254", "private"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "reserved"),
            ("ff02::1", "multicast"),
        ]);
    }

    #[test]
    fn local_names_are_told_from_the_others() {
        for local in
            ["localhost", "a.localhost", "printer", "nas.local", "metadata.google.internal", "1.10.in-addr.arpa"]
        {
            assert!(is_local_name(local), "{local}");
        }
        for other in ["docs.rs", "localhost.com", "local.example.org"] {
            assert!(!is_local_name(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn an_address_is_the_same_however_it_is_written(bits in any::<u32>()) {
            let plain = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = plain.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let expected = special(plain.into());
            for written in [
                plain.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                prop_assert_eq!(special(written.into()), expected);
            }
        }

        #[test]
        fn nothing_outside_of_global_unicast_is_of_the_web(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            if bits >> 125 != 1 && embedded(address).is_none() {
                prop_assert!(special(address.into()).is_some());
            }
        }
    }
}
