//! Everything is asked at every byte of every document of the corpus, whole and cut off: nothing panics, and every
//! place that is given lies in its text.

use flowright::compile::{Folder, MainDocument, compile, compile_agent, package_root};
use flowright::ide::{
    Analysis, At, Document, Entry, complete, define, hover, inlay, outline, rename, tokens,
};
use flowright::source::{FileId, Span};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            documents(&path, found);
        } else if [".yaml", ".json", ".md"].iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

fn analysed(path: &Path, bytes: Vec<u8>) -> Analysis {
    let root = package_root(path);
    let path = std::path::absolute(path).unwrap();
    let package_path = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let is_agent = path.parent().is_some_and(|folder| folder.ends_with("agents"));
    let main = MainDocument { name, package_path, bytes };
    let document = if is_agent {
        Document::Agent(Box::new(compile_agent(main)))
    } else {
        Document::Workflow(Box::new(compile(main, &Folder::new(root), crate::support::AS_OF)))
    };
    Analysis { document, as_of: crate::support::AS_OF }
}

fn inside(analysis: &Analysis, span: Span) {
    let source = analysis.sources().get(span.file).expect("the file was read");
    assert!(source.text().get(span.range()).is_some(), "{span:?} of {}", source.name());
}

fn entries(analysis: &Analysis, all: &[Entry], around: Option<Span>) {
    for entry in all {
        inside(analysis, entry.span);
        inside(analysis, entry.name_span);
        let holds = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
        assert!(holds(entry.span, entry.name_span), "{entry:?}");
        assert!(around.is_none_or(|around| holds(around, entry.span)), "{entry:?}");
        entries(analysis, &entry.children, Some(entry.span));
    }
}

fn ask_as_a_whole(analysis: &Analysis) {
    entries(analysis, &outline::outline(analysis), None);
    outline::folds(analysis).into_iter().for_each(|span| inside(analysis, span));
    let mut end = 0;
    for token in tokens::tokens(analysis) {
        inside(analysis, token.span);
        assert!(token.span.start >= end, "tokens do not overlap");
        end = token.span.end;
    }
    let main = analysis.sources().get(FileId::MAIN).unwrap();
    for note in inlay::inlays(analysis, Span::new(FileId::MAIN, 0, main.text().len())) {
        inside(analysis, Span::new(FileId::MAIN, note.offset, note.offset));
    }
}

/// How much was given: a test that asks nothing would give nothing.
fn ask_at(analysis: &Analysis, at: At) -> usize {
    let mut given = 0;
    for one in complete::complete(analysis, at) {
        inside(analysis, one.span);
        assert!(one.span.file == at.file, "{one:?}");
        // The bytes around the place, so that an editor can filter by what is written.
        assert!(
            one.span.start as usize <= at.offset && at.offset <= one.span.end as usize,
            "{one:?} at {at:?}"
        );
        given += 1;
    }
    if let Some(found) = hover::hover(analysis, at) {
        inside(analysis, found.span);
        assert!(found.span.touches(at.offset) && !found.markdown.is_empty(), "{found:?} at {at:?}");
        given += 1;
    }
    if let Some(found) = define::symbol(analysis, at) {
        found.declared.iter().chain(&found.used).for_each(|span| inside(analysis, *span));
        inside(analysis, found.asked);
        given += 1;
    }
    // One place of each name is enough for the renaming of all of them.
    if let Ok(span) = rename::target(analysis, at) {
        inside(analysis, span);
        if span.start as usize == at.offset {
            given += rename::rename(analysis, at, "other-name").map_or(0, |edits| edits.len());
        }
        given += 1;
    }
    given
}

/// One of four shares of the corpus, so that several cores can work at it.
fn share(number: usize) {
    let mut paths = Vec::new();
    for folder in ["corpus/ok", "corpus/bad", "corpus/real"] {
        documents(Path::new(folder), &mut paths);
    }
    paths.sort();
    assert!(paths.len() > 10);
    let mut given = 0;
    let mut agents_seen = HashSet::new();
    for path in paths.iter().skip(number).step_by(4) {
        let bytes = std::fs::read(path).unwrap();
        let analysis = analysed(path, bytes.clone());
        ask_as_a_whole(&analysis);
        for offset in 0..=bytes.len() + 1 {
            given += ask_at(&analysis, At { file: FileId::MAIN, offset });
        }
        for source in analysis.sources().iter().skip(1) {
            if agents_seen.insert(source.text().to_owned()) {
                for offset in (0..source.text().len()).step_by(7) {
                    given += ask_at(&analysis, At { file: source.id(), offset });
                }
            }
        }
    }
    assert!(given > 1_000, "only {given} answers");
}

#[test]
fn at_every_byte_of_the_first_share_of_the_corpus() {
    share(0);
}

#[test]
fn at_every_byte_of_the_second_share_of_the_corpus() {
    share(1);
}

#[test]
fn at_every_byte_of_the_third_share_of_the_corpus() {
    share(2);
}

#[test]
fn at_every_byte_of_the_fourth_share_of_the_corpus() {
    share(3);
}

#[test]
fn at_the_end_of_every_beginning() {
    for (path, changed) in [
        ("corpus/ok/plan-and-implement.yaml", false),
        ("corpus/ok/plan-and-implement.yaml", true),
        ("corpus/real/w04-plan-review-build-test/agents/planner.json", false),
    ] {
        let mut text = std::fs::read_to_string(path).unwrap();
        if changed {
            text = text.replace('\n', "\r\n").replace("the", "Ωß🦀");
        }
        for (end, _) in text.char_indices().step_by(3) {
            let analysis = analysed(Path::new(path), text.as_bytes()[..end].to_vec());
            ask_as_a_whole(&analysis);
            ask_at(&analysis, At { file: FileId::MAIN, offset: end });
            ask_at(&analysis, At { file: FileId::MAIN, offset: end / 2 });
        }
    }
}
