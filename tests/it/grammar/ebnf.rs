//! A small reader of EBNF as the grammar files write it, and a recogniser that follows what it has read.

use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Terminal(String),
    Symbol(String),
    /// `? … ?`, in words.
    Special(String),
    Sequence(Vec<Expression>),
    Choice(Vec<Expression>),
    Optional(Box<Expression>),
    Repeated(Box<Expression>),
}

pub(super) struct Grammar {
    rules: Vec<(String, Expression)>,
}

impl Grammar {
    pub(super) fn read(text: &str) -> Self {
        let mut tokens = tokens(text);
        tokens.reverse();
        let mut rules: Vec<(String, Expression)> = Vec::new();
        while let Some(name) = tokens.pop() {
            assert_eq!(tokens.pop().as_deref(), Some("="), "behind `{name}`");
            let expression = choice(&mut tokens);
            assert_eq!(tokens.pop().as_deref(), Some(";"), "at the end of `{name}`");
            assert!(rules.iter().all(|(known, _)| *known != name), "`{name}` is defined twice");
            rules.push((name, expression));
        }
        Self { rules }
    }

    pub(super) fn rule(&self, name: &str) -> &Expression {
        let found = self.rules.iter().find(|(known, _)| known == name);
        found.map(|(_, rule)| rule).unwrap_or_else(|| panic!("`{name}` is not defined"))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(name, _)| name.as_str())
    }

    /// Whether the whole text follows from the rule. `special` says how long what stands for itself is.
    pub(super) fn accepts(
        &self,
        rule: &str,
        text: &str,
        special: &dyn Fn(&str, &str) -> Option<usize>,
    ) -> bool {
        self.ends(&Expression::Symbol(rule.to_owned()), text, 0, special).contains(&text.len())
    }

    fn ends(
        &self,
        expression: &Expression,
        text: &str,
        at: usize,
        special: &dyn Fn(&str, &str) -> Option<usize>,
    ) -> BTreeSet<usize> {
        match expression {
            Expression::Terminal(word) => {
                text[at..].starts_with(word.as_str()).then(|| at + word.len()).into_iter().collect()
            }
            Expression::Symbol(name) => match self.rule(name) {
                Expression::Special(_) => {
                    special(name, &text[at..]).map(|len| at + len).into_iter().collect()
                }
                rule => self.ends(rule, text, at, special),
            },
            Expression::Special(words) => panic!("? {words} ? stands alone in its rule"),
            Expression::Choice(all) => all.iter().flat_map(|one| self.ends(one, text, at, special)).collect(),
            Expression::Sequence(all) => all.iter().fold(BTreeSet::from([at]), |places, one| {
                places.into_iter().flat_map(|at| self.ends(one, text, at, special)).collect()
            }),
            Expression::Optional(one) => {
                let mut ends = self.ends(one, text, at, special);
                ends.insert(at);
                ends
            }
            Expression::Repeated(one) => {
                let mut seen = BTreeSet::from([at]);
                let mut new = vec![at];
                while let Some(at) = new.pop() {
                    new.extend(self.ends(one, text, at, special).into_iter().filter(|end| seen.insert(*end)));
                }
                seen
            }
        }
    }
}

impl Expression {
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Terminal(_) | Self::Symbol(_) | Self::Special(_) => Vec::new(),
            Self::Sequence(all) | Self::Choice(all) => all.iter().collect(),
            Self::Optional(one) | Self::Repeated(one) => vec![one],
        }
    }

    pub(super) fn symbols<'e>(&'e self, found: &mut BTreeSet<&'e str>) {
        if let Self::Symbol(name) = self {
            found.insert(name);
        }
        self.parts().into_iter().for_each(|part| part.symbols(found));
    }

    pub(super) fn terminals<'e>(&'e self, found: &mut BTreeSet<&'e str>) {
        if let Self::Terminal(text) = self {
            found.insert(text);
        }
        self.parts().into_iter().for_each(|part| part.terminals(found));
    }
}

/// Names, `"texts"`, `? specials ?` and marks; comments are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '(' if rest.starts_with("(*") => {
                rest = rest[rest.find("*)").expect("a comment ends") + 2..].trim_start();
                continue;
            }
            '"' | '?' => rest[1..].find(c).expect("it is closed") + 2,
            c if c.is_ascii_alphabetic() => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => 1,
        };
        found.push(rest[..len].to_owned());
        rest = rest[len..].trim_start();
    }
    found
}

fn choice(tokens: &mut Vec<String>) -> Expression {
    let mut all = vec![sequence(tokens)];
    while tokens.last().is_some_and(|token| token == "|") {
        tokens.pop();
        all.push(sequence(tokens));
    }
    if all.len() == 1 { all.remove(0) } else { Expression::Choice(all) }
}

fn sequence(tokens: &mut Vec<String>) -> Expression {
    let mut all = vec![factor(tokens)];
    while tokens.last().is_some_and(|token| token == ",") {
        tokens.pop();
        all.push(factor(tokens));
    }
    if all.len() == 1 { all.remove(0) } else { Expression::Sequence(all) }
}

fn factor(tokens: &mut Vec<String>) -> Expression {
    let token = tokens.pop().expect("an expression");
    let close = |tokens: &mut Vec<String>, mark: &str| assert_eq!(tokens.pop().as_deref(), Some(mark));
    match token.chars().next().unwrap() {
        '"' => Expression::Terminal(token.trim_matches('"').to_owned()),
        '?' => Expression::Special(token.trim_matches('?').trim().to_owned()),
        '[' => {
            let inner = choice(tokens);
            close(tokens, "]");
            Expression::Optional(Box::new(inner))
        }
        '{' => {
            let inner = choice(tokens);
            close(tokens, "}");
            Expression::Repeated(Box::new(inner))
        }
        '(' => {
            let inner = choice(tokens);
            close(tokens, ")");
            inner
        }
        c => {
            assert!(c.is_ascii_alphabetic(), "`{token}` stands where an expression belongs");
            Expression::Symbol(token)
        }
    }
}
