//! Which names are those of secrets: variables, headers, fields of an object.
//!
//! Names only. Holds no secret, and does not decide what becomes of one.

/// A value of fewer bytes is no key: it is an ordinary word, or shared by accident.
pub const SHORTEST_BYTES: usize = 8;

/// Endings of a word that make a name a secret's, also run together with what stands before: `PGPASSWORD`.
const ENDINGS: [&str; 12] = [
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "AUTHORIZATION",
    "AUTHENTICATION",
    "COOKIE",
];

/// Words that do so as a whole. In a variable's name only as the last of several: `PWD` alone is a folder.
const WORDS: [&str; 6] = ["KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH"];

/// Endings that do so in a header or a field: `accesskey`, `OAuth`. Variables have `MONKEY` and `LESSKEY`.
const FIELD_ENDINGS: [&str; 3] = ["KEY", "KEYS", "AUTH"];

/// Variables whose names follow no rule.
const NAMES: [&str; 3] = ["SSHPASS", "DOCKER_AUTH_CONFIG", "AWS_ACCESS_KEY_ID"];

/// Words that make a variable's name a secret's wherever they stand.
const PARTS: [&[&str]; 3] = [&["SECRET"], &["API", "KEY"], &["PRIVATE", "KEY"]];

/// Last words of names that lead to a secret and hold none.
const WHEREABOUTS: [&str; 6] = ["FILE", "PATH", "DIR", "NAME", "URL", "URI"];

/// Whether a variable of this name holds a secret, as far as names tell. Commands miss what is taken for one, so that the
/// rule is a narrow one.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    let mut words = words(&upper);
    // `OPENAI_API_KEY_2` is one of several.
    while words.last().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        words.pop();
    }
    let Some((last, before)) = words.split_last() else { return false };
    let public = before.last() == Some(&"PUBLIC");
    NAMES.contains(&upper.as_str())
        || ENDINGS.iter().any(|ending| last.ends_with(ending))
        || (WORDS.contains(last) && !before.is_empty() && !public)
        || (!WHEREABOUTS.contains(last)
            && PARTS.iter().any(|part| words.windows(part.len()).any(|window| window == *part)))
}

/// Whether a header or a field of this name holds a secret. Nobody misses a value that is masked, so that the rule is a
/// wide one: `X-Secret`, `tokenValue`, `key`.
pub fn is_secret_field(name: &str) -> bool {
    let upper = apart(name).to_uppercase();
    let words = words(&upper);
    let Some(last) = words.last() else { return false };
    let public = words.windows(2).any(|two| two == ["PUBLIC", "KEY"]);
    let telling =
        |word: &&str| WORDS.contains(word) || ENDINGS.iter().chain(&FIELD_ENDINGS).any(|ending| word.ends_with(ending));
    !WHEREABOUTS.contains(last) && !public && words.iter().any(telling)
}

/// What of the value of a secret header must not be shown: all of it, and each word after the first, since `Bearer` alone
/// is none.
pub fn of_header(value: &str) -> impl Iterator<Item = &str> {
    std::iter::once(value.trim()).chain(value.split_whitespace().skip(1))
}

fn words(upper: &str) -> Vec<&str> {
    upper.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// `tokenValue` as `token_Value`.
fn apart(name: &str) -> String {
    let mut apart = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for char in name.chars() {
        if after_small && char.is_uppercase() {
            apart.push('_');
        }
        after_small = char.is_lowercase();
        apart.push(char);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables() {
        for secret in [
            "FOO_TOKEN",
            "MY_PASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "GITHUB_PAT",
            "GH_TOKEN",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "OPENAI_API_KEY_2",
            "npm_config__authToken",
            "SECRET_KEY_BASE",
            "STRIPE_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SSH_PRIVATE_KEY",
            "ANSIBLE_VAULT_PASSWORD",
            "client_secret",
            "REDIS_AUTH",
            "SSHPASS",
            "ApiKey",
            "NPM_TOKEN",
            "X_API_KEY_OLD",
            "DOCKER_AUTH_CONFIG",
            "TOKEN",
            "SMTP_CREDENTIAL",
        ] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for open in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
            "MAX_TOKENS",
            "KEYBOARD",
            "LESSKEY",
            "KEY",
            "GIT_ASKPASS",
            "PASSWORD_STORE_DIR",
            "GNOME_KEYRING_CONTROL",
            "APP_PUBLIC_KEY",
            "COMPAT",
            "AUTHOR",
            "SECRET_FILE",
            "MONKEY",
            "GITHUB_TOKEN_PATH",
            "PATHS",
            "XAUTHORITY",
            "",
            "_",
            "123",
        ] {
            assert!(!is_secret_name(open), "{open}");
        }
    }

    #[test]
    fn names_of_headers_and_fields() {
        for secret in [
            "X-Secret",
            "X-Gateway-Token",
            "Authorization",
            "Proxy-Authorization",
            "cf-aig-authorization",
            "Cookie",
            "x-api-key",
            "Ocp-Apim-Subscription-Key",
            "X-Auth-User",
            "X-OAuth",
            "key",
            "accesskey",
            "apiKey",
            "tokenValue",
            "clientSecret",
            "db_password",
            "credentials",
        ] {
            assert!(is_secret_field(secret), "{secret}");
        }
        for open in ["X-Team", "Content-Type", "keyboard", "author", "max_tokens", "publicKey", "token_url", "cwd", ""]
        {
            assert!(!is_secret_field(open), "{open}");
        }
    }

    #[test]
    fn what_follows_a_scheme_is_a_secret_of_its_own() {
        let of = |value| of_header(value).collect::<Vec<_>>();
        assert_eq!(of("Bearer k-1"), ["Bearer k-1", "k-1"]);
        assert_eq!(of(" k-1 "), ["k-1"]);
    }
}
