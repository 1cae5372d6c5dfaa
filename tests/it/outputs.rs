//! `check` and what it hands out: one verdict for every way in, formats, settings, ignore comments, fixes, watching.

mod desk;
mod fixes;
mod formats;
mod ignored;
mod kind;
mod same;
mod settings;
mod usage;
mod watch;
