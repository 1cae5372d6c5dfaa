//! `flowright demo …`: a demonstration that needs no key and no network. It writes an example into a folder and gives
//! the commands of the how-to, each in a process of its own. It never writes over what is there.

use super::{Exit, Failure, output};
use clap::Subcommand;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// An agent calls three tools; two of them are answered from outside, while no process runs
    Durable {
        /// Keep the example and its sessions in this new folder
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
    },
}

/// A file of the example: where, what, and whether it can be run.
type Piece = (&'static str, &'static str, bool);

const DURABLE: &[Piece] = &[
    ("agents/lookup.json", include_str!("../../corpus/real/durable/agents/lookup.json"), false),
    ("replies.yaml", include_str!("../../corpus/real/durable/replies.yaml"), false),
    ("tools/fetch_local", include_str!("../../corpus/real/durable/tools/fetch_local"), true),
    ("tools/fetch_remote_a", include_str!("../../corpus/real/durable/tools/fetch_remote_a"), true),
    ("tools/fetch_remote_b", include_str!("../../corpus/real/durable/tools/fetch_remote_b"), true),
    ("a.json", "{ \"type\": \"text\", \"content\": \"a is 5\" }\n", false),
];

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Verb::Durable { keep } = &arguments.verb;
    let folder = match keep {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir().join(format!("flowright-demo-{}", std::process::id())),
    };
    if folder.exists() {
        return Err(Failure {
            exit: Exit::Refused,
            message: format!("{} is there already; nothing was written", folder.display()),
            code: "conflict",
        });
    }
    let told = unpack(&folder).and_then(|()| durable(&folder));
    if keep.is_none() {
        // Of a folder below the system's own for such things; what is left over there harms nobody.
        let _ = std::fs::remove_dir_all(&folder);
    }
    told.map(|()| Exit::Done)
}

fn unpack(folder: &Path) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Failure::usage(format!("{path} cannot be written: {error}"))
    };
    let own = folder.join(".flowright");
    std::fs::create_dir_all(&own).map_err(failed(&own))?;
    for (name, text, runs) in DURABLE {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(failed(parent))?;
        std::fs::write(&path, text).map_err(failed(&path))?;
        if *runs {
            super::replace::make_executable(&path).map_err(failed(&path))?;
        }
    }
    Ok(())
}

/// The way of one turn: asked, stopped in the middle, answered from outside, ended.
fn durable(folder: &Path) -> Result<(), Failure> {
    let show = |words: &[&str], stdin: Option<&str>| shown(folder, words, stdin);
    let prompt = "Look up a, b and c.";
    let started =
        show(&["session", "start", "--agent-file", "agents/lookup.json", "--prompt", prompt], None)?;
    let session = started.split_whitespace().nth(1).unwrap_or_default().to_owned();
    show(&["session", "step", &session], None)?;
    show(&["session", "step", &session], None)?;
    show(&["session", "pending", &session], None)?;
    let tokens = tokens(folder, &session)?;
    let [a, b] = tokens.as_slice() else {
        return Err(Failure::new(Exit::Fault, "the demonstration has not two deferred calls"));
    };
    show(&["session", "complete", a, "a.json"], None)?;
    show(&["session", "complete", b, "-"], Some("b is 7\n"))?;
    show(&["session", "resume", &session], None)?;
    show(&["session", "print", &session], None)?;
    Ok(())
}

/// Prints a command as a shell would take it, gives it in a process of its own, and prints what it prints.
fn shown(folder: &Path, words: &[&str], stdin: Option<&str>) -> Result<String, Failure> {
    let quoted = |word: &&str| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() };
    let line: Vec<String> = words.iter().map(quoted).collect();
    let before = stdin.map(|text| format!("echo \"{}\" | ", text.trim_end())).unwrap_or_default();
    output::line(&format!("$ {before}flowright {}", line.join(" ")));
    let (text, exit) = given(folder, words, stdin)?;
    output::print(&text);
    if !matches!(exit, Some(0 | 3)) {
        return Err(Failure::new(Exit::Fault, "the demonstration went another way than it should"));
    }
    if exit == Some(3) {
        output::line("(exit code 3: it waits for something outside)");
    }
    output::print("\n");
    Ok(text)
}

fn tokens(folder: &Path, session: &str) -> Result<Vec<String>, Failure> {
    let (text, _) = given(folder, &["session", "pending", session, "--json"], None)?;
    let listed: Value = serde_json::from_str(&text).unwrap_or_default();
    let calls = listed.get("pending").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(calls.iter().filter_map(|call| call.get("token")?.as_str().map(str::to_owned)).collect())
}

fn given(folder: &Path, words: &[&str], stdin: Option<&str>) -> Result<(String, Option<i32>), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Fault, format!("flowright cannot be run: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(words)
        .current_dir(folder)
        .env_remove("FLOWRIGHT_DB")
        .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        pipe.write_all(text.as_bytes()).map_err(failed)?;
    }
    let done = child.wait_with_output().map_err(failed)?;
    Ok((String::from_utf8_lossy(&done.stdout).into_owned(), done.status.code()))
}
