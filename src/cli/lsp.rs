//! `flowright lsp`: the language server on stdin and stdout.

use super::{Exit, Failure};
use crate::host::clock::RealClock;
use crate::lsp;
use etcetera::BaseStrategy;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Speak over stdin and stdout, which is the only way there is; editors may say so
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Arguments { stdio: _ } = arguments;
    // Pages of another version are other pages.
    let pages = etcetera::choose_base_strategy()
        .ok()
        .map(|dirs| dirs.cache_dir().join("flowright").join(env!("CARGO_PKG_VERSION")).join("diagnostics"));
    match lsp::serve_stdio(&RealClock, lsp::Options { pages }) {
        lsp::Ended::Asked => Ok(Exit::Done),
        // The protocol wants 1 where nobody has asked for a shutdown.
        lsp::Ended::Unasked | lsp::Ended::Closed => Ok(Exit::Findings),
        lsp::Ended::Broken(why) => {
            Err(Failure::new(Exit::Findings, format!("{why}; `flowright lsp` is started by an editor")))
        }
    }
}
