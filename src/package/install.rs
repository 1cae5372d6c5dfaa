//! Installed packages: one folder a version, beside its digest. A version never changes once it is there.

use super::archive::Contents;
use super::manifest::{self, Manifest};
use crate::ir::Digest;
use semver::Version;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where packages are installed: `NAME/VERSION/` with the files, `NAME/VERSION.digest` with the digest.
#[derive(Clone, Debug)]
pub struct Place(pub PathBuf);

/// An installed version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Digest of its archive.
    pub digest: Digest,
    /// Its folder.
    pub folder: PathBuf,
}

/// What installing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installation {
    /// It is there now.
    Fresh(Installed),
    /// It was there, and is the same.
    Same(Installed),
}

impl Place {
    fn folder(&self, name: &str, version: &Version) -> PathBuf {
        self.0.join(name).join(version.to_string())
    }

    fn record(&self, name: &str, version: &Version) -> PathBuf {
        self.0.join(name).join(format!("{version}.digest"))
    }

    /// Installs a package. Nothing of it is run.
    ///
    /// # Errors
    /// One sentence: another package of this name and version is there, or the disk.
    pub fn install(&self, contents: &Contents) -> Result<Installation, String> {
        let Manifest { name, version, .. } = &contents.manifest;
        let digest = contents.digest()?;
        let installed = Installed {
            name: name.clone(),
            version: version.clone(),
            digest: digest.clone(),
            folder: self.folder(name, version),
        };
        if let Some(known) = self.recorded(name, version)? {
            if known == digest {
                self.verified(&installed)?;
                return Ok(Installation::Same(installed));
            }
            return Err(format!(
                "{name}@{version} is installed with other content ({}; this one is {}); give this one another version",
                known.short(),
                digest.short()
            ));
        }
        let own = self.0.join(name);
        let failed = |error: std::io::Error| format!("{name}@{version} cannot be installed: {error}");
        fs::create_dir_all(&own).map_err(failed)?;
        // What a broken installation has left behind has no record, so it is not one.
        let fresh = own.join(format!(".{version}.{}", std::process::id()));
        for left in [&fresh, &installed.folder] {
            if left.exists() {
                fs::remove_dir_all(left).map_err(failed)?;
            }
        }
        write_all(&fresh, contents).map_err(failed)?;
        fs::rename(&fresh, &installed.folder).map_err(failed)?;
        sync(&own).map_err(failed)?;
        let record = self.record(name, version);
        let mut file = fs::File::create_new(&record).map_err(failed)?;
        file.write_all(format!("{}\n", digest.as_str()).as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        sync(&own).map_err(failed)?;
        Ok(Installation::Fresh(installed))
    }

    fn recorded(&self, name: &str, version: &Version) -> Result<Option<Digest>, String> {
        let path = self.record(name, version);
        match fs::read_to_string(&path) {
            Ok(text) => Digest::parse(text.trim())
                .map(Some)
                .ok_or_else(|| format!("{} holds no digest", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
        }
    }

    /// Whether the files are still those of the digest.
    ///
    /// # Errors
    /// One sentence if they are not.
    pub fn verified(&self, installed: &Installed) -> Result<Contents, String> {
        let (name, version) = (&installed.name, &installed.version);
        let altered =
            |why: &str| format!("the installed {name}@{version} was altered ({why}); install it anew");
        let contents = Contents::of_folder(&installed.folder).map_err(|why| altered(&why))?;
        let is_own = contents.manifest.name == *name && contents.manifest.version == *version;
        if is_own && contents.digest()? == installed.digest {
            Ok(contents)
        } else {
            Err(altered("its digest differs"))
        }
    }

    /// All installed versions, by name, the newest first.
    ///
    /// # Errors
    /// One sentence about the disk.
    pub fn all(&self) -> Result<Vec<Installed>, String> {
        let mut all = Vec::new();
        for name in names(&self.0)? {
            if manifest::check_name(&name).is_ok() {
                all.extend(self.versions(&name)?);
            }
        }
        Ok(all)
    }

    /// The installed versions of a package, the newest first.
    ///
    /// # Errors
    /// One sentence about the disk.
    pub fn versions(&self, name: &str) -> Result<Vec<Installed>, String> {
        manifest::check_name(name).map_err(|why| format!("the package {why}"))?;
        let mut versions = Vec::new();
        for file in names(&self.0.join(name))? {
            let Some(version) = file.strip_suffix(".digest").and_then(|text| Version::parse(text).ok())
            else {
                continue;
            };
            if let Some(digest) = self.recorded(name, &version)? {
                let folder = self.folder(name, &version);
                versions.push(Installed { name: name.to_owned(), version, digest, folder });
            }
        }
        versions.sort_by(|one, other| other.version.cmp(&one.version));
        Ok(versions)
    }

    /// One version; without a version the newest that is no pre-release, else the newest.
    ///
    /// # Errors
    /// One sentence that names what is there.
    pub fn find(&self, name: &str, version: Option<&str>) -> Result<Installed, String> {
        let versions = self.versions(name)?;
        let wanted = match version {
            Some(text) => Some(manifest::check_version(text).map_err(|why| format!("{name}@{text} {why}"))?),
            None => None,
        };
        let found = match &wanted {
            Some(wanted) => versions.iter().find(|installed| installed.version == *wanted),
            None => versions.iter().find(|installed| installed.version.pre.is_empty()).or(versions.first()),
        };
        found.cloned().ok_or_else(|| {
            let there: Vec<String> = versions.iter().map(|installed| installed.version.to_string()).collect();
            match (wanted, there.is_empty()) {
                (_, true) => format!("no version of `{name}` is installed"),
                (Some(wanted), false) => {
                    format!("{name}@{wanted} is not installed; there is {}", there.join(", "))
                }
                (None, false) => format!("no version of `{name}` is installed"),
            }
        })
    }

    /// Takes a version away. Its record goes first, so that half of it is never taken for a whole.
    ///
    /// # Errors
    /// One sentence about the disk.
    pub fn remove(&self, installed: &Installed) -> Result<(), String> {
        let failed = |error: std::io::Error| {
            format!("{}@{} cannot be removed: {error}", installed.name, installed.version)
        };
        fs::remove_file(self.record(&installed.name, &installed.version)).map_err(failed)?;
        fs::remove_dir_all(&installed.folder).map_err(failed)
    }
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{} cannot be read: {error}", folder.display())),
    };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Writes into a folder that nobody else knows: no path of the package can meet a link there.
fn write_all(folder: &Path, contents: &Contents) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    for (path, item) in &contents.items {
        let path = folder.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let mut file = fs::File::create_new(&path)?;
        file.write_all(&item.bytes)?;
        set_executable(&file, item.executable)?;
        file.sync_all()?;
    }
    sync(folder)
}

#[cfg(unix)]
fn set_executable(file: &fs::File, executable: bool) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_executable(_file: &fs::File, _executable: bool) -> std::io::Result<()> {
    Ok(())
}

/// A folder's entries are on the disk only once the folder is.
#[cfg(unix)]
fn sync(folder: &Path) -> std::io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}
