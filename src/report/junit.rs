//! JUnit's XML, as build servers read it: a suite a file, a case a finding. What fails the check is a failure, anything
//! else a case that passes and says so.

use super::{Found, Report};
use crate::escape::{visible, visible_lines};
use crate::source::{FileId, Source};
use std::collections::BTreeMap;
use std::io;

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut suites: BTreeMap<&str, Vec<Found<'_>>> = BTreeMap::new();
    for part in &report.parts {
        suites.entry(part.sources.get(FileId::MAIN).map_or("", Source::name)).or_default();
    }
    let all = report.findings();
    for found in &all {
        let name = found.sources.get(found.diagnostic.span.file).map_or("", Source::name);
        suites.entry(name).or_default().push(*found);
    }
    let failures = all.iter().filter(|found| found.fails).count();
    let tests: usize = suites.values().map(|own| own.len().max(1)).sum();
    let unreadable = report.unreadable.len();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"flowright check\" tests=\"{}\" failures=\"{failures}\" errors=\"{unreadable}\">",
        tests + unreadable
    )?;
    for (name, own) in &suites {
        suite(name, own, out)?;
    }
    for (name, message) in &report.unreadable {
        let name = attribute(name);
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">")?;
        writeln!(out, "    <testcase classname=\"{name}\" name=\"read\">")?;
        writeln!(out, "      <error message=\"{}\"/>", attribute(message))?;
        writeln!(out, "    </testcase>\n  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn suite(name: &str, own: &[Found<'_>], out: &mut dyn io::Write) -> io::Result<()> {
    let name = attribute(name);
    let failures = own.iter().filter(|found| found.fails).count();
    let tests = own.len().max(1);
    writeln!(out, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">")?;
    if own.is_empty() {
        writeln!(out, "    <testcase classname=\"{name}\" name=\"no findings\"/>")?;
    }
    for found in own {
        let diagnostic = found.diagnostic;
        let place = found
            .sources
            .get(diagnostic.span.file)
            .map(|source| source.position(diagnostic.span.range().start));
        let (line, column) = place.map_or((1, 1), |place| (place.line, place.column));
        let rule = diagnostic.rule.name;
        writeln!(
            out,
            "    <testcase classname=\"{name}\" name=\"{rule} ({line}:{column})\" line=\"{line}\">"
        )?;
        let message = visible(&diagnostic.message);
        let help = diagnostic.help.as_deref().map(|help| format!("\nhelp: {}", visible_lines(help)));
        let body = format!("{line}:{column}: {message}{}", help.unwrap_or_default());
        if found.fails {
            let message = attribute(&diagnostic.message);
            writeln!(out, "      <failure type=\"{rule}\" message=\"{message}\">{}</failure>", text(&body))?;
        } else {
            let severity = diagnostic.severity.word();
            writeln!(out, "      <system-out>{severity}: {}</system-out>", text(&body))?;
        }
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

fn attribute(value: &str) -> String {
    text(&visible(value)).replace('"', "&quot;")
}

/// What XML can hold; two characters that it cannot hold are no controls and are shown as escapes, too.
fn text(value: &str) -> String {
    let held = value.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}");
    held.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
