//! `--watch`: checks again what a change can have changed.

use super::super::{Exit, Failure};
use super::Arguments;

pub(super) fn run(_: &Arguments) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
