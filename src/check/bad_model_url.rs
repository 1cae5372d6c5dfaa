//! `bad-model-url`: `modelUrl` is the address of a model server or of a script of replies.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Fix, Rule, Severity};

/// A model server has no URL that could be asked.
pub static RULE: Rule = Rule {
    name: "bad-model-url",
    severity: Severity::Error,
    summary: "A model server has no URL that could be asked",
    page: include_str!("../../docs/diagnostics/bad-model-url.md"),
};

/// The scheme of scripted replies.
const SCRIPT: &str = "script:";

/// Reports a text that is no such address.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let Some(url) = &agent.model_url else { return };
    let Some(why) = fault(&url.value) else { return };
    let found = Diagnostic::new(&RULE, url.span, format!("`{}` is no address of a model server: {why}", url.value));
    let looks_bare = !url.value.contains("://") && host(&url.value).is_some_and(|host| host.contains(['.', ':']));
    out.push(if looks_bare || host(&url.value) == Some("localhost") {
        let scheme = if is_local(host(&url.value).unwrap_or_default()) { "http" } else { "https" };
        let better = format!("{scheme}://{}", url.value);
        let mut fix = Fix::replace(format!("write `{better}`"), url.span, better.clone());
        fix.safe = false;
        found.help(format!("did you mean `{better}`?")).fix(fix)
    } else {
        found.help("write a base URL such as `http://localhost:11434/v1`")
    });
}

fn fault(url: &str) -> Option<&'static str> {
    if let Some(path) = url.strip_prefix(SCRIPT) {
        return path.trim().is_empty().then_some("behind `script:` a file must be named");
    }
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("it holds white space");
    }
    let Some((scheme, rest)) = url.split_once("://") else { return Some("it has no scheme") };
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return Some("only `http` and `https` are spoken");
    }
    let Some(host) = host(rest) else { return Some("it names no host") };
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default().rsplit_once(':').map(|(_, port)| port);
    match port {
        Some(port) if !host.starts_with('[') && port.parse::<u16>().is_err() => Some("its port is no number"),
        Some(_) | None => None,
    }
}

/// The host of an address without its scheme, with its port taken away.
#[must_use]
pub fn host(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.starts_with('[') {
        return host.split_inclusive(']').next();
    }
    host.split(':').next().filter(|host| !host.is_empty())
}

/// Whether a host is this machine or a network of one's own.
#[must_use]
pub fn is_local(host: &str) -> bool {
    let private = ["127.", "10.", "192.168.", "169.254."];
    let in_172 = host.strip_prefix("172.").and_then(|rest| rest.split('.').next()?.parse::<u8>().ok());
    matches!(host, "localhost" | "[::1]" | "0.0.0.0" | "host.docker.internal")
        || [".local", ".localhost", ".lan", ".internal"].iter().any(|ending| host.ends_with(ending))
        || private.iter().any(|start| host.starts_with(start))
        || in_172.is_some_and(|second| (16..32).contains(&second))
        || !host.contains(['.', ':'])
}
