//! Brings services of OpenAPI toolboxes that stand in files of their own into the agent. Reads no document of a
//! service and asks no server.

use super::{FileError, Files, take_in};
use crate::ast::Agent;
use crate::check::{missing_toolbox_file, refused_path};
use crate::diagnostic::{Diagnostic, Severity};
use crate::parse;
use crate::resolve::package_path::normal;
use crate::source::{Sources, Spanned};

/// Reads the service of each `OpenAPIServerOnDisk`; what is wrong with it is reported where it stands.
pub(super) fn link(
    agent: &mut Agent,
    files: &dyn Files,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let strict = if agent.base.is_some() { Severity::Error } else { Severity::Warning };
    for toolbox in &mut agent.toolboxes.openapi {
        let Some(path) = &toolbox.on_disk else { continue };
        match read(path, files) {
            Ok((place, bytes)) => {
                let Some(source) = take_in(sources, &files.shown(&place), bytes, diagnostics) else {
                    continue;
                };
                toolbox.server = parse::agent::openapi_server(&source, strict, diagnostics);
            }
            Err(mut found) => {
                found.severity = strict;
                diagnostics.push(*found);
            }
        }
        agent.toolboxes.is_cut |= toolbox.server.is_none();
    }
}

fn read(path: &Spanned<String>, files: &dyn Files) -> Result<(String, Vec<u8>), Box<Diagnostic>> {
    let refused = |why: &str| Box::new(refused_path::fault(&path.value, path.span, why));
    let place = normal(&path.value).map_err(|why| refused(&why))?;
    match files.read(&place) {
        Ok(bytes) => Ok((place, bytes)),
        Err(FileError::Missing) => Err(Box::new(missing_toolbox_file::fault(&path.value, path.span))),
        Err(FileError::Outside(why) | FileError::Unreadable(why)) => Err(refused(&why)),
    }
}
