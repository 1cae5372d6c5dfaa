//! Colours of the picture, light and dark, and the style sheet that is printed from them. Every colour of a text is
//! listed beside what it stands on, so that a test can measure the contrast. Nothing here draws.

use std::fmt::Write as _;

/// A surface with the texts and lines on it.
struct Look {
    /// Name of its variables.
    name: &'static str,
    light: Colours,
    dark: Colours,
}

/// Hexadecimal colours.
struct Colours {
    fill: &'static str,
    line: &'static str,
    ink: &'static str,
    /// For smaller words.
    soft: &'static str,
}

const fn colours(fill: &'static str, line: &'static str, ink: &'static str, soft: &'static str) -> Colours {
    Colours { fill, line, ink, soft }
}

const LOOKS: [Look; 12] = [
    Look {
        name: "page",
        light: colours("#ffffff", "#6e7781", "#1f2328", "#57606a"),
        dark: colours("#0d1117", "#8b949e", "#e6edf3", "#9ea7b3"),
    },
    Look {
        name: "frame",
        light: colours("#f6f8fa", "#a8b1bb", "#1f2328", "#57606a"),
        dark: colours("#141a22", "#444c56", "#e6edf3", "#9ea7b3"),
    },
    Look {
        name: "question",
        light: colours("#fff3d1", "#bf8700", "#3b2a07", "#6b4f12"),
        dark: colours("#372a0b", "#d4a72c", "#ffecb8", "#dcc07a"),
    },
    Look {
        name: "agent",
        light: colours("#e8f1ff", "#3b72c9", "#0f2347", "#38527f"),
        dark: colours("#12264a", "#5a92e8", "#dbe9ff", "#a3bfe8"),
    },
    Look {
        name: "cron",
        light: colours("#f1ebfe", "#7c5cc4", "#2a1a57", "#574687"),
        dark: colours("#291f46", "#9b7de0", "#ebe3ff", "#bfb0e6"),
    },
    Look {
        name: "loop",
        light: colours("#ffffff", "#6e7781", "#1f2328", "#57606a"),
        dark: colours("#1c232c", "#8b949e", "#e6edf3", "#9ea7b3"),
    },
    Look {
        name: "branch",
        light: colours("#e2f6f3", "#2a8c83", "#0b3330", "#2b5f5a"),
        dark: colours("#0d302d", "#3fb3a7", "#cdf5f0", "#8fcfc7"),
    },
    Look {
        name: "end",
        light: colours("#e2f6e6", "#2f855a", "#123822", "#335f45"),
        dark: colours("#10301c", "#46a86c", "#cef4da", "#94cda8"),
    },
    Look {
        name: "stop",
        light: colours("#f3f3f5", "#71717a", "#18181b", "#52525b"),
        dark: colours("#24262b", "#8b949e", "#ececef", "#a9b0b9"),
    },
    Look {
        name: "failed",
        light: colours("#fdeceb", "#c53030", "#5a1010", "#7d3a3a"),
        dark: colours("#3b1513", "#e5655c", "#ffdcd9", "#e0a5a0"),
    },
    Look {
        name: "hold",
        light: colours("#fffaf9", "#d38c86", "#85271d", "#85473f"),
        dark: colours("#1d1414", "#96514a", "#f2b5ae", "#cf9a94"),
    },
    Look {
        name: "machine",
        light: colours("#f7faff", "#7b8fae", "#1c2f50", "#465a7d"),
        dark: colours("#0f1b30", "#66809f", "#d3e0f5", "#a2b4d0"),
    },
];

/// Colours of a comparison: name, light, dark. They stand on the page and on every surface.
const MARKS: [(&str, &str, &str); 3] =
    [("added", "#116329", "#57d364"), ("removed", "#a40e26", "#ff9d94"), ("changed", "#744500", "#eac54f")];

const SHEET: &str = "\
.flowright{font-family:\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Liberation Sans\",\"DejaVu Sans\",sans-serif;\
font-size:12px;background:var(--page-fill);color-scheme:light dark}
.fw-page{fill:var(--page-fill)}
.fw-h1{font-size:18px;font-weight:700;fill:var(--page-ink)}
.fw-h2,.fw-h2 a{font-size:12px;fill:var(--page-soft)}
.fw-code{font-family:ui-monospace,\"SF Mono\",Menlo,Consolas,\"Liberation Mono\",\"DejaVu Sans Mono\",monospace}
.fw-card{fill:var(--fill);stroke:var(--line);stroke-width:1.4}
.fw-question>.fw-card{stroke-width:2}
.fw-end>.fw-card,.fw-stop>.fw-card,.fw-failed>.fw-card{stroke-width:2}
.fw-hold>.fw-card{stroke-dasharray:4 3;stroke-width:1.1}
.fw-name{font-size:13px;font-weight:700;fill:var(--ink)}
.fw-title{font-size:12px;fill:var(--ink)}
.fw-fact,.fw-kind,.fw-code{font-size:11px;fill:var(--soft,var(--page-soft))}
.fw-small{font-size:10.5px;fill:var(--soft)}
.fw-strong{font-weight:700;fill:var(--ink)}
.fw-tight{font-size:11px}
.fw-icon{fill:none;stroke:var(--line);stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.fw-gate>rect{fill:var(--fill);stroke:var(--line)}
.fw-machine>rect{stroke-dasharray:3 2.5}
.fw-frame{fill:var(--frame-fill);stroke:var(--frame-line);stroke-width:1.2}
.fw-wire{fill:none;stroke:var(--page-line);stroke-width:1.5}
.fw-head{fill:var(--page-line);stroke:none}
.fw-faint>.fw-wire{stroke-width:1.1;stroke-dasharray:4 3;opacity:.75}
.fw-faint>.fw-head{opacity:.75}
.fw-label{font-size:11px;fill:var(--page-ink);text-anchor:middle}
.fw-faint>.fw-label{fill:var(--page-soft)}
.fw-plate{fill:var(--page-fill)}
.fw-begin{fill:var(--page-ink)}
.fw-mark{font-size:11px;font-weight:700;fill:var(--mark)}
.fw-added>.fw-card,.fw-removed>.fw-card,.fw-changed>.fw-card{stroke:var(--mark);stroke-width:3}
.fw-removed>.fw-card{stroke-dasharray:7 4}
.fw-edge.fw-added>.fw-wire,.fw-edge.fw-removed>.fw-wire,.fw-edge.fw-changed>.fw-wire{stroke:var(--mark);\
stroke-width:2.4;opacity:1}
.fw-edge.fw-added>.fw-head,.fw-edge.fw-removed>.fw-head,.fw-edge.fw-changed>.fw-head{fill:var(--mark);opacity:1}
.fw-edge.fw-removed>.fw-wire{stroke-dasharray:7 4}
.flowright a:focus{outline:none}
.flowright a:focus>.fw-node>.fw-card,.flowright a:hover>.fw-node>.fw-card{stroke-width:3}
";

/// The whole sheet.
pub(super) fn sheet() -> String {
    let mut css = String::from(".flowright{");
    variables(&mut css, |look| &look.light, |mark| mark.1);
    css.push_str("}\n@media (prefers-color-scheme:dark){.flowright{");
    variables(&mut css, |look| &look.dark, |mark| mark.2);
    css.push_str("}}\n");
    css.push_str(SHEET);
    for look in LOOKS.iter().filter(|look| !matches!(look.name, "page" | "frame")) {
        let name = look.name;
        // Writing into a String cannot fail.
        let _ = writeln!(
            css,
            ".fw-{name}{{--fill:var(--{name}-fill);--line:var(--{name}-line);--ink:var(--{name}-ink);\
             --soft:var(--{name}-soft)}}"
        );
    }
    for (name, _, _) in MARKS {
        let _ = writeln!(css, ".fw-{name}{{--mark:var(--{name})}}");
    }
    css
}

fn variables(
    css: &mut String,
    colours: impl Fn(&Look) -> &Colours,
    mark: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str,
) {
    for look in &LOOKS {
        let (name, colours) = (look.name, colours(look));
        let _ = write!(
            css,
            "--{name}-fill:{};--{name}-line:{};--{name}-ink:{};--{name}-soft:{};",
            colours.fill, colours.line, colours.ink, colours.soft
        );
    }
    for entry in &MARKS {
        let _ = write!(css, "--{}:{};", entry.0, mark(entry));
    }
}

/// Shapes of 16 by 16, each the content of a symbol.
pub(super) const ICONS: [(&str, &str); 10] = [
    (
        "question",
        "<circle cx=\"8\" cy=\"5\" r=\"2.8\"/><path d=\"M2.6 14c.2-3.2 2.4-4.8 5.4-4.8s5.2 1.6 5.4 4.8\"/>",
    ),
    (
        "agent",
        "<rect x=\"2.8\" y=\"5.2\" width=\"10.4\" height=\"8\" rx=\"2\"/><path d=\"M8 5V2.4M6 8.6v1.2M10 8.6v1.2M1 8.4v2M15 8.4v2\"/>",
    ),
    ("cron", "<circle cx=\"8\" cy=\"8\" r=\"6\"/><path d=\"M8 4.6V8l2.4 1.6\"/>"),
    ("loop", "<path d=\"M13.2 8.4a5.2 5.2 0 1 1-1.5-4.1L13.4 6M13.4 2.4V6H9.8\"/>"),
    (
        "switch",
        "<path d=\"M8 1.8v3.4L3.4 9.4v4.4M8 5.2l4.6 4.2v4.4M1.6 12l1.8 1.9L5.2 12M10.8 12l1.8 1.9 1.8-1.9\"/>",
    ),
    ("pick", "<path d=\"M2 3h12L9.4 8.4v5L6.6 12V8.4z\"/>"),
    ("stop", "<rect x=\"3.4\" y=\"3.4\" width=\"9.2\" height=\"9.2\" rx=\"1.4\"/>"),
    ("failed", "<path d=\"M4 4l8 8M12 4l-8 8\"/>"),
    ("end", "<path d=\"M2.8 8.6l3.6 3.6 7-8\"/>"),
    ("hold", "<path d=\"M5.6 3.6v8.8M10.4 3.6v8.8\"/>"),
];
