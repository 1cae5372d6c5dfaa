//! The page: it needs nothing from outside, works without its script, and holds what is known of each node.

use super::complete::attributes;
use super::{by_hand, drives, hostile};
use flowright::preview::{self, Format, Sketch};

fn page() -> String {
    preview::print(Format::Html, &by_hand::plan_and_implement())
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let page = page();
    for word in ["http:", "https:", "//cdn", "<link", "<img", "<iframe", "@import", "url(", " src=", "fetch("]
    {
        let found =
            page.match_indices(word).find(|(at, _)| !page[*at..].starts_with("http://www.w3.org/2000/svg"));
        assert_eq!(found, None, "{word}");
    }
    assert!(page.contains("default-src 'none'"), "nothing could be loaded either");
    assert_eq!(page.matches("<script").count(), 1);
}

/// Every node of the picture is a link, so the keyboard reaches it, and leads to an element of the page.
#[test]
fn every_node_leads_to_its_details_without_a_script() {
    let page = page();
    let ids = attributes(&page, "id");
    let links: Vec<String> =
        attributes(&page, "href").into_iter().filter(|link| link.starts_with("#about")).collect();
    assert!(links.len() > by_hand::plan_and_implement().graph().nodes().count());
    for link in links {
        assert!(ids.contains(&link[1..].to_owned()), "{link}");
    }
    for card in page.match_indices("<g class=\"fw-node") {
        assert!(page[..card.0].ends_with("\">") && page[..card.0].rfind("<a href=").unwrap() + 60 > card.0);
    }
}

#[test]
fn the_page_tells_details_digest_and_what_was_proved() {
    let workflow = by_hand::plan_and_implement();
    let mut sketch = Sketch::of(&workflow, None);
    assert!(!sketch.print(Format::Html).contains("What was proved"));
    sketch.proved = vec!["`ship` is never reached before <a person> has accepted `plan`".to_owned()];
    let page = sketch.print(Format::Html);
    assert!(page.contains("<h2>What was proved</h2>"));
    assert!(page.contains("before &lt;a person&gt; has accepted"));
    assert!(page.contains(workflow.digest().as_str()));
    for text in [
        "<dt>gate 2</dt><dd>person: Is this the plan to build? (owner, role:lead)</dd>",
        "at most 12 agent runs",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn hostile_words_stay_words_on_the_page() {
    let page = preview::print(Format::Html, &hostile());
    assert_eq!(page.chars().find(|c| drives(*c)), None);
    assert_eq!(page.matches("<script").count(), 1, "the page's own and no other");
    assert!(page.contains("&lt;script&gt;"));
}

/// With a date the next occurrences are shown, in the schedule's zone; without one the same bytes come every day.
#[test]
fn occurrences_need_a_date() {
    let workflow = by_hand::every_kind();
    let dated = Sketch::of(&workflow, Some(crate::support::AS_OF));
    for format in Format::ALL {
        assert!(dated.print(format).contains("Mon 2025-12-01 09"), "{format:?}");
        assert!(!preview::print(format, &workflow).contains("2025"), "{format:?}");
    }
}
