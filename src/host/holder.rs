//! Names of processes: who holds a lease or an admission, and whether that process is gone.

/// The name of this process: `<pid>/<start>/<random>`; `start` is the kernel's start time of the process where it
/// tells one, so that a reused process number is not taken for the old process.
#[must_use]
pub fn this_process() -> String {
    let pid = std::process::id();
    let start = start_time(pid).unwrap_or_else(|| "-".to_owned());
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("{pid}/{start}/{random}")
}

/// Whether the process of this name is surely gone. Unknown names and systems without `/proc` count as alive: then
/// only the lapse of the lease frees it.
#[must_use]
pub fn is_gone(holder: &str) -> bool {
    let mut parts = holder.split('/');
    let (Some(pid), Some(start)) = (parts.next().and_then(|pid| pid.parse::<u32>().ok()), parts.next())
    else {
        return false;
    };
    if start == "-" || !std::path::Path::new("/proc/self/stat").exists() {
        return false;
    }
    start_time(pid).is_none_or(|now| now != start)
}

/// Field 22 of `/proc/<pid>/stat`; a zombie counts as gone.
fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    if matches!(fields.next(), Some("Z" | "X")) {
        return None;
    }
    fields.nth(18).map(ToOwned::to_owned)
}
