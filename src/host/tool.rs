//! Tools that agents call: finding them, describing them, running them. So far: folders of bash tools.

pub mod bash;
pub mod process;
