//! The sketch as one page that needs nothing from outside: the picture, and what is known of each node. Without its
//! script the nodes lead to their details below; with it the details stand beside the picture. Nothing of the author
//! is read as markup.

use super::svg::{self, slug, xml};
use super::{Node, Sketch};
use std::fmt::Write as _;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(super) fn print(sketch: &Sketch) -> String {
    let title = sketch.title.as_deref().unwrap_or(&sketch.name);
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    // Writing into a String cannot fail, here and below. The page may load nothing, and no script but its own runs.
    let _ = writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>",
        xml(title)
    );
    header(sketch, title, &mut out);
    out.push_str("<main>\n<section class=\"picture\" aria-label=\"The picture\">\n");
    out.push_str(&svg::print(sketch, true));
    out.push_str("</section>\n<section class=\"abouts\" aria-label=\"The steps\">\n<h2>The steps</h2>\n");
    out.push_str(
        "<p class=\"hint soft\">Choose a step in the picture, by pointer or with Tab; Escape closes its details.</p>\n",
    );
    for node in &sketch.nodes {
        about(sketch, node, &mut out);
    }
    let _ = writeln!(out, "</section>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn header(sketch: &Sketch, title: &str, out: &mut String) {
    let (name, digest) = (xml(&sketch.name), xml(&sketch.digest));
    let _ = writeln!(out, "<header>\n<h1>{}</h1>", xml(title));
    let _ = writeln!(out, "<p class=\"soft\"><code>{name}</code> <code>{digest}</code></p>");
    list("facts", &sketch.facts, out);
    if !sketch.proved.is_empty() {
        out.push_str("<h2>What was proved</h2>\n");
        list("proved", &sketch.proved, out);
    }
    if let Some(compared) = &sketch.compared {
        let _ = writeln!(out, "<h2>Compared with <code>{}</code></h2>", xml(&compared.old_digest));
        list("changes", &compared.changes, out);
    }
    out.push_str("</header>\n");
}

fn list(class: &str, lines: &[String], out: &mut String) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "<ul class=\"{class}\">");
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", xml(line));
    }
    out.push_str("</ul>\n");
}

/// What is known of one node, with the ways out of it as links.
fn about(sketch: &Sketch, node: &Node, out: &mut String) {
    let name = xml(&node.name);
    let _ =
        writeln!(out, "<article class=\"about\" id=\"about-{}\" data-about=\"{name}\">", slug(&node.name));
    let kind = node.stop.map_or_else(|| node.kind.to_owned(), |status| format!("{} {status}", node.kind));
    let start = if sketch.start.as_ref() == Some(&node.name) { " · a session begins here" } else { "" };
    let _ = writeln!(out, "<h3>{name} <span class=\"soft\">{}{start}</span></h3>", xml(&kind));
    if let Some(told) = node.mark.told() {
        let _ = writeln!(out, "<p class=\"mark\">{} {}</p>", node.mark.sign(), xml(&told));
    }
    let _ = writeln!(out, "<p>{}</p>", xml(&node.title));
    if !node.details.is_empty() {
        out.push_str("<dl>\n");
        for detail in &node.details {
            let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", xml(&detail.key), xml(&detail.text));
        }
        out.push_str("</dl>\n");
    }
    let edges: Vec<_> = sketch.edges.iter().filter(|edge| edge.from == node.name).collect();
    if !edges.is_empty() {
        out.push_str("<ul class=\"ways\">\n");
        for edge in edges {
            let faint = if edge.faint { " class=\"faint\"" } else { "" };
            let label = edge.label();
            let label = if label.is_empty() { String::new() } else { format!("{} ", xml(&label)) };
            let mark = edge.mark.told().map(|told| format!(" <span class=\"mark\">{}</span>", xml(&told)));
            let to = xml(&edge.to);
            let _ = writeln!(
                out,
                "<li{faint} data-from=\"{name}\" data-to=\"{to}\">{label}→ <a href=\"#about-{}\">{to}</a>{}</li>",
                slug(&edge.to),
                mark.unwrap_or_default()
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</article>\n");
}
