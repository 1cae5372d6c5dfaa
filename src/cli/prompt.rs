//! The prompt script: parts of a prompt in the order in which they stand on the command line. Reads files and runs the
//! commands that the command line names; never anything that a definition names.

use super::{Exit, Failure, definition};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use std::path::{Path, PathBuf};

/// Bytes of one prompt, without its media.
const MAX_PROMPT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of one file of media.
const MAX_MEDIA_BYTES: u64 = 32 * 1024 * 1024;

/// Where a model's thinking goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Nowhere.
    #[default]
    None,
    /// To stdout, before the answer.
    Stdout,
    /// To stderr.
    Stderr,
}

/// One part, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Alias(String),
    Prompt(String),
    File(PathBuf),
    Shell(String),
    Separator(String, usize),
    Media(String),
}

/// The whole script, as written.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    parts: Vec<Part>,
    /// Where thinking goes.
    pub thinking: Thinking,
}

/// What a script comes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    /// The parts, joined by newlines.
    pub text: String,
    /// Files that go with it.
    pub media: Vec<Attached>,
}

/// A file that goes with a prompt.
#[derive(Clone, Debug)]
pub(super) struct Attached {
    /// MIME type.
    pub mime: String,
    /// File name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Script {
    /// A prompt of one text.
    pub(super) fn of(text: &str) -> Self {
        Self { parts: vec![Part::Prompt(text.to_owned())], thinking: Thinking::None }
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Reads what the parts name. Without any part the prompt is all of stdin.
    pub(super) fn read(&self, aliases: &dyn Fn(&str) -> Result<String, Failure>) -> Result<Prompt, Failure> {
        let mut texts = Vec::new();
        let mut media = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Alias(name) if index == 0 => texts.push(aliases(name)?),
                Part::Alias(name) => {
                    return Err(Failure::usage(format!(
                        "--alias {name} must be the first part of the prompt"
                    )));
                }
                Part::Prompt(text) => texts.push(text.clone()),
                Part::File(path) => texts.push(text_of(path)?),
                Part::Shell(command) => texts.push(shell(command)?),
                Part::Separator(text, times) => texts.push(text.repeat(*times)),
                Part::Media(written) => media.push(attached(written)?),
            }
        }
        if self.parts.is_empty() {
            let bytes = definition::stdin()?;
            let text =
                String::from_utf8(bytes).map_err(|_| Failure::usage("the prompt on stdin is not UTF-8"))?;
            texts.push(text.trim_end_matches(['\n', '\r']).to_owned());
        }
        let text = texts.join("\n");
        if text.len() > MAX_PROMPT_BYTES {
            return Err(Failure::usage(format!(
                "the prompt has {} bytes; at most {MAX_PROMPT_BYTES} can be sent",
                text.len()
            )));
        }
        if text.trim().is_empty() && media.is_empty() {
            return Err(Failure::usage(
                "the prompt is empty; say something with --prompt, --file or on stdin",
            ));
        }
        Ok(Prompt { text, media })
    }
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let bytes = if path.as_os_str() == "-" { definition::stdin()? } else { definition::read(path)? };
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{} is not UTF-8; attach it with --media", path.display())))
}

/// Standard output of a command of the operator; what it says on stderr goes to the terminal.
fn shell(command: &str) -> Result<String, Failure> {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let output = std::process::Command::new(program)
        .args([flag, command])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| Failure::usage(format!("--shell `{command}` cannot be run: {error}")))?;
    if !output.status.success() {
        let how =
            output.status.code().map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        return Err(Failure::usage(format!("--shell `{command}` ended with {how}")));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// `[MIME;]PATH`.
fn attached(written: &str) -> Result<Attached, Failure> {
    let (mime, path) = match written.split_once(';') {
        Some((mime, path)) if mime.contains('/') && !mime.starts_with(['.', '/']) => (Some(mime), path),
        Some(_) | None => (None, written),
    };
    let path = Path::new(path);
    let size = std::fs::metadata(path).map(|meta| meta.len()).unwrap_or_default();
    if size > MAX_MEDIA_BYTES {
        return Err(Failure::usage(format!(
            "{} has {size} bytes; at most {MAX_MEDIA_BYTES} can be attached",
            path.display()
        )));
    }
    let bytes = definition::read(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mime = match mime {
        Some(mime) => mime.to_owned(),
        None => guessed(&bytes, &name)
            .ok_or_else(|| {
                Failure::usage(format!(
                    "what kind of file {} is cannot be told; write --media 'TYPE/SUBTYPE;{}'",
                    path.display(),
                    path.display()
                ))
            })?
            .to_owned(),
    };
    Ok(Attached { mime, name, bytes })
}

/// From the first bytes, else from the ending of the name.
fn guessed(bytes: &[u8], name: &str) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 7] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"OggS", "audio/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
    ];
    const ENDINGS: [(&str, &str); 14] = [
        ("svg", "image/svg+xml"),
        ("mp3", "audio/mpeg"),
        ("mp4", "video/mp4"),
        ("txt", "text/plain"),
        ("log", "text/plain"),
        ("md", "text/markdown"),
        ("csv", "text/csv"),
        ("json", "application/json"),
        ("yaml", "application/yaml"),
        ("yml", "application/yaml"),
        ("xml", "application/xml"),
        ("html", "text/html"),
        ("htm", "text/html"),
        ("bmp", "image/bmp"),
    ];
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(mime);
    }
    if bytes.starts_with(b"RIFF") {
        return match bytes.get(8..12) {
            Some(b"WEBP") => Some("image/webp"),
            Some(b"WAVE") => Some("audio/wav"),
            Some(_) | None => None,
        };
    }
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime)
}

impl Args for Script {
    fn augment_args(command: Command) -> Command {
        let text = |id: &'static str, name: &'static str, help: &'static str| {
            Arg::new(id).long(id).value_name(name).help(help).action(ArgAction::Append).help_heading("Prompt")
        };
        command
            .arg(
                text("alias", "NAME", "Begin with a prompt of the operator's configuration")
                    .action(ArgAction::Set),
            )
            .arg(
                text("prompt", "TEXT", "A part of the prompt; parts are joined by newlines in their order")
                    .short('p'),
            )
            .arg(
                text("file", "PATH", "A text file as a part of the prompt, `-` for stdin")
                    .short('f')
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(text("shell", "COMMAND", "What a command prints, as a part of the prompt"))
            .arg(text("sep4", "SEP", "A line of four times SEP").short('s').allow_hyphen_values(true))
            .arg(text("sep40", "SEP", "A line of forty times SEP").short('S').allow_hyphen_values(true))
            .arg(
                text("media", "[MIME;]PATH", "A picture or another file that goes with the prompt")
                    .short('m'),
            )
            .arg(
                Arg::new("thinking")
                    .long("thinking")
                    .value_name("WHERE")
                    .help("Where the model's thinking is shown")
                    .value_parser(["none", "stdout", "stderr"])
                    .default_value("none")
                    .help_heading("Prompt"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Script {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut placed: Vec<(usize, Part)> = Vec::new();
        let mut take = |id: &str, part: &dyn Fn(&str) -> Part| {
            let indices = matches.indices_of(id).into_iter().flatten();
            let values = matches.get_many::<String>(id).into_iter().flatten();
            placed.extend(indices.zip(values).map(|(index, value)| (index, part(value))));
        };
        take("alias", &|text| Part::Alias(text.to_owned()));
        take("prompt", &|text| Part::Prompt(text.to_owned()));
        take("shell", &|text| Part::Shell(text.to_owned()));
        take("sep4", &|text| Part::Separator(text.to_owned(), 4));
        take("sep40", &|text| Part::Separator(text.to_owned(), 40));
        take("media", &|text| Part::Media(text.to_owned()));
        let files = matches.get_many::<PathBuf>("file").into_iter().flatten();
        let indices = matches.indices_of("file").into_iter().flatten();
        placed.extend(indices.zip(files).map(|(index, path)| (index, Part::File(path.clone()))));
        placed.sort_by_key(|(index, _)| *index);
        let thinking = match matches.get_one::<String>("thinking").map(String::as_str) {
            Some("stdout") => Thinking::Stdout,
            Some("stderr") => Thinking::Stderr,
            Some(_) | None => Thinking::None,
        };
        Ok(Self { parts: placed.into_iter().map(|(_, part)| part).collect(), thinking })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Prompt {
    /// Keeps the media and names them.
    pub(super) fn keep(
        self,
        store: &dyn crate::store::Store,
    ) -> Result<(String, Vec<crate::engine::agent::event::Media>), Failure> {
        let mut media = Vec::new();
        for file in self.media {
            let length = file.bytes.len() as u64;
            let digest =
                store.put_blob(&file.bytes).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
            media.push(crate::engine::agent::event::Media {
                mime: file.mime,
                digest,
                length,
                name: Some(file.name),
            });
        }
        Ok((self.text, media))
    }
}
