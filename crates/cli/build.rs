//! Tells the program which commit it is built from, for `--version`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=TENSOR_LAYOUT_VERSION={}", version().unwrap_or_else(|| env!("CARGO_PKG_VERSION").into()));
}

/// `0.1.0 (2cac6ec)`: the commit of the checkout, or the one that cargo notes in a published package.
fn version() -> Option<String> {
    let commit = match std::fs::read_to_string(".cargo_vcs_info.json") {
        Ok(text) => text.split("\"sha1\": \"").nth(1)?.split('"').next()?.to_owned(),
        Err(_) => {
            // A new commit or another branch changes this file.
            let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
            if Path::new(&log).exists() {
                println!("cargo:rerun-if-changed={log}");
            }
            git(&["rev-parse", "HEAD"])?
        }
    };
    Some(format!("{} ({})", env!("CARGO_PKG_VERSION"), commit.get(..9)?))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
