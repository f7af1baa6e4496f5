//! What is kept from commands, what is let through, and which shell is found.

use super::*;

fn env(vars: &[(&str, &str)]) -> Env {
    Env { vars: vars.iter().map(|(name, value)| (name.into(), value.into())).collect(), ..Env::default() }
}

fn withheld(vars: &[(&str, &str)], allow: &[&str]) -> Vec<String> {
    let allow: Vec<String> = allow.iter().map(|entry| (*entry).to_owned()).collect();
    CommandEnv::new(&env(vars), &["DEEPSEEK_API_KEY".into(), "ODD_NAME".into()], &allow).unwrap().withheld
}

#[test]
fn values_that_are_secrets() {
    for secret in [
        "postgres://app:s3cret@db.example.org/app",
        "redis://:s3cret@127.0.0.1:6379",
        "https://user:p@ss@example.org?x",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn",
        "a=1 mongodb+srv://u:p@h/x",
    ] {
        assert!(is_secret_value(OsStr::new(secret)), "{secret}");
    }
    for open in [
        "postgres://db/app",
        "https://user@example.org/a:b@c",
        "http://host:80/x@y",
        "ssh://git@host:22/x",
        "a://:@b",
        "://",
        "x",
    ] {
        assert!(!is_secret_value(OsStr::new(open)), "{open}");
    }
}

#[test]
fn what_is_allowed_passes() {
    let vars = [("FOO_TOKEN", "t"), ("BAR_TOKEN", "t"), ("PATH", "/bin"), ("DATABASE_URL", "pg://u:p@h")];
    assert_eq!(withheld(&vars, &[]), ["BAR_TOKEN", "DATABASE_URL", "FOO_TOKEN"]);
    assert_eq!(withheld(&vars, &["FOO_*", "DATABASE_URL"]), ["BAR_TOKEN"]);
    assert!(CommandEnv::new(&env(&[]), &[], &["[".into()]).unwrap_err().starts_with("[: "));
}

#[test]
fn a_providers_key_passes_by_its_own_name_only() {
    let vars = [
        ("DEEPSEEK_API_KEY", "k-deep-123"),
        ("ODD_NAME", "k"),
        ("SAME", "k-deep-123"),
        ("VIOLA_API_KEY", "k"),
        ("X", "k"),
    ];
    assert_eq!(withheld(&vars, &["*"]), ["DEEPSEEK_API_KEY", "ODD_NAME", "SAME", "VIOLA_API_KEY"]);
    assert_eq!(withheld(&vars, &["DEEPSEEK_API_KEY", "SAME"]), ["ODD_NAME", "VIOLA_API_KEY"]);
}

#[test]
fn nothing_asks() {
    let command =
        CommandEnv::new(&env(&[("EDITOR", "vim"), ("SSH_ASKPASS", "/x"), ("CI", "1"), ("TERM", "xterm")]), &[], &[])
            .unwrap();
    let get = |name: &str| command.vars().get(OsStr::new(name)).and_then(|value| value.to_str());
    assert_eq!(
        [get("EDITOR"), get("SSH_ASKPASS"), get("CI"), get("TERM")],
        [Some("true"), None, Some("1"), Some("dumb")]
    );
    assert_eq!(get("GIT_TERMINAL_PROMPT"), Some("0"));
}

#[test]
fn the_shell_is_looked_for_in_the_commands_path() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let program = |name: &str, mode: u32| {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), "").unwrap();
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let shell = |path: &str| CommandEnv::new(&env(&[("PATH", path)]), &[], &[]).unwrap().shell();
    program("one/sh", 0o755);
    program("two/bash", 0o755);
    std::fs::create_dir_all(at("three/bash")).unwrap();
    let (one, two, three) = (at("one"), at("two"), at("three"));
    assert_eq!(shell(&format!("{}:{}:{}", three.display(), one.display(), two.display())), Some(at("two/bash")));
    assert_eq!(shell(&format!("{}:{}", three.display(), one.display())), Some(at("one/sh")));
    assert_eq!(shell(""), None);
    assert_eq!(shell("bin:."), None);
    assert!(CommandEnv::new(&env(&[]), &[], &[]).unwrap().shell().is_some());
}
