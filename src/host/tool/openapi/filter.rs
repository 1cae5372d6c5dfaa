//! Which operations of a document a definition offers. Pure.

use crate::ir::toolbox::EndpointFilter;

/// What a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// In capitals.
    pub method: &'a str,
    /// As the document writes it.
    pub path: &'a str,
    /// Its operation id, or the name that stands for one.
    pub operation: &'a str,
}

/// Whether the filter lets an operation through.
#[must_use]
pub fn fits(filter: &EndpointFilter, of: Endpoint<'_>) -> bool {
    match filter {
        EndpointFilter::PathPrefix(text) => of.path.starts_with(text.as_str()),
        EndpointFilter::PathSuffix(text) => of.path.ends_with(text.as_str()),
        EndpointFilter::PathContains(text) => of.path.contains(text.as_str()),
        EndpointFilter::PathExactly(text) => of.path == text,
        EndpointFilter::Methods(names) => names.iter().any(|name| name.eq_ignore_ascii_case(of.method)),
        EndpointFilter::Operations(ids) => ids.iter().any(|id| id == of.operation),
        EndpointFilter::Any(parts) => parts.iter().any(|part| fits(part, of)),
        EndpointFilter::All(parts) => parts.iter().all(|part| fits(part, of)),
        EndpointFilter::Not(part) => !fits(part, of),
    }
}
