//! Walls of the Linux kernel around one process: it reads the system and its package, writes where it was allowed to,
//! and never sees the sessions. No walls on other systems, and then it is said.

use crate::host::tool::toolbox::Walls;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a confined process may touch; everything else is refused by the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Read and run; folders with all that is in them.
    pub read: Vec<PathBuf>,
    /// Read, write, make and remove.
    pub write: Vec<PathBuf>,
    /// Whether TCP connections and listeners are allowed.
    pub network: bool,
}

/// Where programs and what they load lie.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/proc",
    "/run/current-system",
];
/// Devices that ordinary programs write to.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// The folder of the sessions, wherever a package lies.
const STORE_FOLDER: &str = ".flowright";

impl Profile {
    /// For a program of the package at `root` with the scratch folder `scratch`.
    #[must_use]
    pub fn of(walls: &Walls, root: &Path, scratch: &Path) -> Self {
        let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        read.extend(parts(root));
        read.extend(walls.read.iter().map(|path| root.join(path)));
        let mut write: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
        write.push(scratch.to_path_buf());
        write.extend(walls.write.iter().map(|path| root.join(path)));
        Self { read, write, network: walls.network }
    }
}

/// What lies in a package, but for the sessions.
fn parts(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let kept = entries.flatten().filter(|entry| !entry.file_name().eq_ignore_ascii_case(STORE_FOLDER));
    let mut parts: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    parts.sort();
    parts
}

#[cfg(target_os = "linux")]
mod kernel {
    use super::Profile;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetStatus,
    };
    use std::path::Path;

    /// The rights that must be there, or nothing is confined: those of the first kernels that could truncate.
    const NEEDED: ABI = ABI::V3;

    fn created(profile: &Profile) -> Result<RulesetCreated, String> {
        let missing =
            |error: &dyn std::fmt::Display| format!("the kernel offers no Landlock of this kind: {error}");
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))
            .map_err(|error| missing(&error))?;
        if !profile.network {
            rules = rules.handle_access(AccessNet::from_all(ABI::V4)).map_err(|error| missing(&error))?;
        }
        rules.create().map_err(|error| missing(&error))
    }

    impl Profile {
        /// Whether the kernel can put these walls up.
        ///
        /// # Errors
        /// One sentence if it cannot.
        pub fn possible(&self) -> Result<(), String> {
            created(self).map(|_| ())
        }

        /// Puts the walls around this process and all that it starts, for good.
        ///
        /// # Errors
        /// One sentence if they could not be put up in full.
        pub fn confine(&self) -> Result<(), String> {
            let mut rules = created(self)?;
            for path in &self.read {
                rules = opened(rules, path, AccessFs::from_read(NEEDED))?;
            }
            for path in &self.write {
                rules = opened(rules, path, AccessFs::from_all(NEEDED))?;
            }
            let status =
                rules.restrict_self().map_err(|error| format!("the walls cannot be put up: {error}"))?;
            match status.ruleset {
                RulesetStatus::FullyEnforced => Ok(()),
                RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
                    Err("the kernel puts the walls up in part only".to_owned())
                }
            }
        }
    }

    /// Opens a path; what is not there needs no opening.
    fn opened(
        rules: RulesetCreated,
        path: &Path,
        access: landlock::BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, String> {
        let Ok(about) = std::fs::metadata(path) else { return Ok(rules) };
        let access = if about.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
        let failed = |error: &dyn std::fmt::Display| format!("{} cannot be opened: {error}", path.display());
        let file = PathFd::new(path).map_err(|error| failed(&error))?;
        rules.add_rule(PathBeneath::new(file, access)).map_err(|error| failed(&error))
    }
}

#[cfg(not(target_os = "linux"))]
impl Profile {
    /// Whether the kernel can put these walls up.
    ///
    /// # Errors
    /// It cannot.
    pub fn possible(&self) -> Result<(), String> {
        Err("Landlock is of Linux; this system has none".to_owned())
    }

    /// Puts the walls up.
    ///
    /// # Errors
    /// It cannot.
    pub fn confine(&self) -> Result<(), String> {
        self.possible()
    }
}
