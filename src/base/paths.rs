//! Where the platform keeps a user's configuration and data, computed from the surroundings as a value.
//!
//! Creates nothing and looks at no disk.

use std::path::PathBuf;

use super::env::Env;

/// The folder for programs' configuration: `$XDG_CONFIG_HOME` or `~/.config` on Unix, `Library/Application Support` on
/// macOS, `%APPDATA%` on Windows.
pub fn config_home(env: &Env) -> Option<PathBuf> {
    home_for(env, "XDG_CONFIG_HOME", ".config", "APPDATA")
}

/// The folder for programs' data: `$XDG_DATA_HOME` or `~/.local/share` on Unix, `Library/Application Support` on macOS,
/// `%LOCALAPPDATA%` on Windows.
pub fn data_home(env: &Env) -> Option<PathBuf> {
    home_for(env, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")
}

fn home_for(env: &Env, xdg: &str, below_home: &str, windows: &str) -> Option<PathBuf> {
    if cfg!(windows) {
        return env.var(windows).map(PathBuf::from);
    }
    if cfg!(target_os = "macos") {
        return env.home.as_ref().map(|home| home.join("Library/Application Support"));
    }
    // The XDG specification: a relative path is invalid and is ignored.
    let chosen = env.var(xdg).map(PathBuf::from).filter(|path| path.is_absolute());
    chosen.or_else(|| env.home.as_ref().map(|home| home.join(below_home)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_home() {
        let mut env = Env { home: Some("/home/me".into()), ..Env::default() };
        assert_eq!(config_home(&env), Some("/home/me/.config".into()));
        assert_eq!(data_home(&env), Some("/home/me/.local/share".into()));
        env.vars.insert("XDG_CONFIG_HOME".into(), "/elsewhere".into());
        env.vars.insert("XDG_DATA_HOME".into(), "relative".into());
        assert_eq!(config_home(&env), Some("/elsewhere".into()));
        assert_eq!(data_home(&env), Some("/home/me/.local/share".into()), "a relative path is ignored");
        assert_eq!(config_home(&Env::default()), None);
    }
}
