//! `flowright package`: making, checking, building and installing packages. Installing starts nothing.

use super::{Exit, Failure, definition, output};
use crate::diagnostic::Severity;
use crate::package::{Contents, Installation, Installed, Manifest, Place, manifest};
use crate::report;
use crate::verdict::kind::{self, Kind};
use etcetera::BaseStrategy;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Where packages are installed [default: flowright/packages in the user's data folder]
    #[arg(long, value_name = "FOLDER", env = "FLOWRIGHT_PACKAGES", global = true)]
    packages: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Write a manifest and the folders of a package
    Init {
        /// Folder of the package
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Name of the package [default: that of the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Check the manifest, the files and every definition of a package
    Check {
        /// Folder of the package
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Write the archive of a package: the same bytes for the same files, everywhere
    Build {
        /// Folder of the package
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Where to [default: NAME-VERSION.tar]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Install a package from a folder or an archive; nothing of it is run
    Install {
        /// Folder or archive
        from: PathBuf,
    },
    /// List what is installed
    List,
    /// Show a package: its digest, workflows, agents and files
    Show {
        /// NAME or NAME@VERSION of an installed one, or a folder (./NAME) or an archive
        package: String,
    },
    /// Remove an installed version
    Remove {
        /// NAME@VERSION
        package: String,
    },
}

/// Where packages are installed without a word.
pub(super) fn place(named: Option<&Path>) -> Result<Place, Failure> {
    if let Some(folder) = named {
        return Ok(Place(folder.to_path_buf()));
    }
    if let Some(folder) = std::env::var_os("FLOWRIGHT_PACKAGES") {
        return Ok(Place(folder.into()));
    }
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Failure::usage("there is no home folder to keep packages in; name a folder with --packages")
    })?;
    Ok(Place(strategy.data_dir().join("flowright").join("packages")))
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let json = arguments.json;
    let place = || place(arguments.packages.as_deref());
    match &arguments.verb {
        Verb::Init { folder, name } => init(folder, name.as_deref(), json),
        Verb::Check { folder } => {
            let contents = checked(folder)?;
            told(json, &about(&contents)?, &format!("{} is in order", named(&contents.manifest)));
            Ok(Exit::Done)
        }
        Verb::Build { folder, output } => build(folder, output.as_deref(), json),
        Verb::Install { from } => install(&place()?, from, json),
        Verb::List => list(&place()?, json),
        Verb::Show { package } => show(&place()?, package, json),
        Verb::Remove { package } => remove(&place()?, package, json),
    }
}

fn refused(message: String) -> Failure {
    Failure::new(Exit::Refused, message)
}

fn named(manifest: &Manifest) -> String {
    format!("{}@{}", manifest.name, manifest.version)
}

fn told(json: bool, value: &Value, line: &str) {
    if json { output::json(value) } else { output::line(&output::visible(line)) }
}

fn about(contents: &Contents) -> Result<Value, Failure> {
    let Manifest { name, version, description } = &contents.manifest;
    let digest = contents.digest().map_err(refused)?;
    let files: Vec<&String> = contents.items.keys().collect();
    Ok(json!({
        "version": 1,
        "package": { "name": name, "version": version.to_string(), "description": description },
        "digest": digest.as_str(),
        "workflows": definitions(contents, Kind::Workflow),
        "agents": definitions(contents, Kind::Agent),
        "files": files,
    }))
}

/// Names of the workflows or agents: what `run` and definitions call them by.
fn definitions(contents: &Contents, wanted: Kind) -> Vec<String> {
    let is_wanted =
        |path: &str, bytes: &[u8]| kind::may_be_ours(path) && kind::kind(path, bytes) == Some(wanted);
    let found = contents.items.iter().filter(|(path, item)| is_wanted(path, &item.bytes));
    found.map(|(path, _)| stem(path)).collect()
}

/// A file's name without folders and endings.
fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let ending = [".yaml", ".yml", ".json", ".agent.md"].iter().find_map(|ending| file.strip_suffix(ending));
    ending.unwrap_or(file).to_owned()
}

fn init(folder: &Path, name: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::new(Exit::Usage, format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let real = folder.canonicalize().map_err(failed)?;
    let own = real.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.map_or(own, str::to_owned);
    manifest::check_name(&name)
        .map_err(|why| Failure::usage(format!("the package {why}; --name gives it another one")))?;
    if let Some(there) = manifest::NAMES.iter().find(|name| folder.join(name).exists()) {
        return Err(refused(format!("{} is there already", folder.join(there).display())));
    }
    let text = format!("name = \"{name}\"\nversion = \"0.1.0\"\ndescription = \"\"\n");
    std::fs::write(folder.join(manifest::NAMES[0]), text).map_err(failed)?;
    for below in ["workflows", "agents", "schemas", "tools", "skills"] {
        std::fs::create_dir_all(folder.join(below)).map_err(failed)?;
    }
    let path = folder.join(manifest::NAMES[0]).display().to_string();
    told(json, &json!({ "version": 1, "manifest": path }), &format!("wrote {path}"));
    Ok(Exit::Done)
}

/// The package of a folder, each of its definitions judged. Findings go to stderr.
fn checked(folder: &Path) -> Result<Contents, Failure> {
    let contents = Contents::of_folder(folder)
        .map_err(|why| Failure::new(Exit::Findings, format!("{}: {why}", folder.display())))?;
    let mut errors = 0;
    for (path, item) in &contents.items {
        // As `check` of a folder takes them.
        if !kind::may_be_ours(path) || kind::kind(path, &item.bytes).is_none() {
            continue;
        }
        let verdict = definition::judge_file(&folder.join(path))?;
        if !verdict.diagnostics.is_empty() {
            definition::print_findings(&verdict);
        }
        errors += verdict.count(Severity::Error);
    }
    if errors == 0 {
        return Ok(contents);
    }
    let errors = report::counted(errors, "error");
    Err(Failure::new(Exit::Findings, format!("{} has {errors}", named(&contents.manifest))))
}

fn build(folder: &Path, to: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let contents = checked(folder)?;
    let archive = contents.archive().map_err(refused)?;
    let file = format!("{}-{}.tar", contents.manifest.name, contents.manifest.version);
    let path = to.map_or_else(|| PathBuf::from(file), Path::to_path_buf);
    match std::fs::read(&path) {
        Ok(there) if there == archive => {}
        Ok(_) => {
            return Err(refused(format!(
                "{} is there with other content; give the package another version, or remove the file",
                path.display()
            )));
        }
        Err(_) => std::fs::write(&path, &archive).map_err(|error| {
            Failure::new(Exit::Usage, format!("{} cannot be written: {error}", path.display()))
        })?,
    }
    let mut value = about(&contents)?;
    if let Some(map) = value.as_object_mut() {
        map.insert("archive".to_owned(), path.display().to_string().into());
    }
    let digest = contents.digest().map_err(refused)?;
    told(json, &value, &format!("{}  {}", path.display(), digest.as_str()));
    Ok(Exit::Done)
}

/// A package from a folder or an archive, as it is.
fn from(path: &Path) -> Result<Contents, Failure> {
    let contents = if path.is_dir() {
        Contents::of_folder(path)
    } else {
        Contents::of_archive(&definition::read(path)?)
    };
    contents.map_err(|why| refused(format!("{}: {why}", path.display())))
}

fn install(place: &Place, path: &Path, json: bool) -> Result<Exit, Failure> {
    let contents = if path.is_dir() { checked(path)? } else { from(path)? };
    let (installed, how) = match place.install(&contents).map_err(refused)? {
        Installation::Fresh(installed) => (installed, "installed"),
        Installation::Same(installed) => (installed, "is installed already, the same"),
    };
    let line = format!("{} {how}  {}", named(&contents.manifest), installed.digest.as_str());
    let value = json!({ "version": 1, "installed": row(&installed), "fresh": how == "installed" });
    told(json, &value, &line);
    Ok(Exit::Done)
}

fn row(installed: &Installed) -> Value {
    json!({
        "name": installed.name,
        "version": installed.version.to_string(),
        "digest": installed.digest.as_str(),
        "folder": installed.folder.display().to_string(),
    })
}

fn list(place: &Place, json: bool) -> Result<Exit, Failure> {
    let all = place.all().map_err(refused)?;
    if json {
        let rows: Vec<Value> = all.iter().map(row).collect();
        output::json(&json!({ "version": 1, "packages": rows }));
    } else if all.is_empty() {
        output::line("nothing is installed");
    } else {
        for installed in &all {
            output::line(&format!("{}@{}  {}", installed.name, installed.version, installed.digest.as_str()));
        }
    }
    Ok(Exit::Done)
}

/// `NAME` or `NAME@VERSION`, found.
fn found(place: &Place, written: &str) -> Result<Installed, Failure> {
    let (name, version) = match written.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (written, None),
    };
    place.find(name, version).map_err(Failure::usage)
}

fn show(place: &Place, written: &str, json: bool) -> Result<Exit, Failure> {
    let path = Path::new(written);
    // A name is a name also where a folder is called so; `./NAME` is the folder.
    let is_name = manifest::check_name(written.split('@').next().unwrap_or(written)).is_ok();
    let contents = if !is_name && path.exists() {
        from(path)?
    } else {
        place.verified(&found(place, written)?).map_err(refused)?
    };
    let value = about(&contents)?;
    if json {
        output::json(&value);
        return Ok(Exit::Done);
    }
    let mut lines = vec![named(&contents.manifest)];
    lines.extend(contents.manifest.description.clone());
    let texts = |key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.push(format!("digest: {}", value.get("digest").map(word).unwrap_or_default()));
    for (key, one) in [("workflows", "workflow"), ("agents", "agent"), ("files", "file")] {
        lines.extend(texts(key).iter().map(|item| format!("{one}: {}", word(item))));
    }
    output::line(&output::visible(&lines.join("\n")));
    Ok(Exit::Done)
}

fn remove(place: &Place, written: &str, json: bool) -> Result<Exit, Failure> {
    if !written.contains('@') {
        return Err(Failure::usage(format!("say which version of `{written}`: NAME@VERSION")));
    }
    let installed = found(place, written)?;
    place.remove(&installed).map_err(refused)?;
    told(json, &json!({ "version": 1, "removed": row(&installed) }), &format!("removed {written}"));
    Ok(Exit::Done)
}

/// A workflow of an installed package, as `run` names it: `PACKAGE/WORKFLOW` or `PACKAGE/WORKFLOW@VERSION`.
pub(super) struct Packaged {
    /// The file.
    pub path: PathBuf,
    /// What is noted with the session: package, workflow, version and digest.
    pub source: String,
}

/// The workflow that is meant; none where the text names no package.
pub(super) fn workflow(written: &Path) -> Result<Option<Packaged>, Failure> {
    let Some(text) = written.to_str().filter(|_| !written.exists()) else { return Ok(None) };
    let (path, version) = match text.split_once('@') {
        Some((path, version)) => (path, Some(version)),
        None => (text, None),
    };
    let Some((name, workflow)) = path.split_once('/') else { return Ok(None) };
    if manifest::check_name(name).is_err() || workflow.is_empty() || workflow.contains(['/', '.']) {
        return Ok(None);
    }
    let place = place(None)?;
    let installed = place.find(name, version).map_err(Failure::usage)?;
    let contents = place.verified(&installed).map_err(refused)?;
    let places = ["workflows/", ""]
        .iter()
        .flat_map(|folder| [".yaml", ".yml"].iter().map(move |ending| format!("{folder}{workflow}{ending}")));
    let Some(file) = places.into_iter().find(|file| contents.items.contains_key(file)) else {
        let there = definitions(&contents, Kind::Workflow).join(", ");
        let message = format!("{name}@{} has no workflow `{workflow}`; it has {there}", installed.version);
        return Err(Failure::usage(message));
    };
    let source = format!("{SCHEME}{name}/{workflow}@{}#{}", installed.version, installed.digest.as_str());
    Ok(Some(Packaged { path: installed.folder.join(file), source }))
}

/// Before the source of a session that runs a packaged workflow.
pub(super) const SCHEME: &str = "package:";
