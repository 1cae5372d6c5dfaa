//! Tool policies: rules, dispositions in both spellings, isolations and decorators.

use super::Reader;
use crate::ast::{Decorator, Disposition, Isolation, Policy, PolicyRule};
use crate::diagnostic::{Diagnostic, nearest};
use crate::grammar;
use crate::parse::rules;
use crate::source::Spanned;
use crate::tree::{Node, Value};

const TAGS: [&str; 6] = ["runSync", "runAsync", "defer", "deny", "runIsolated", "decorate"];
const DECORATORS: [&str; 5] = ["timeout", "retries", "cache", "label", "truncate"];
const ISOLATIONS: [&str; 3] = ["docker", "localProcess", "functionRunner"];

impl Reader<'_> {
    pub(super) fn policy_of(&mut self, node: &Node) -> Option<Policy> {
        let (one, other) = (node.entry("toolCallPolicy"), node.entry("toolCallPolicyConfig"));
        let node = &one.or(other)?.value;
        if node.value == Value::Null || !self.fields.map(node, grammar::POLICY.title) {
            return None;
        }
        self.keys(node, &grammar::POLICY);
        let default = node.get("default").map(|node| self.disposition(node));
        let items = match node.get("rules") {
            Some(rules) if rules.value != Value::Null => self.fields.items(rules, "`rules`"),
            _ => &[],
        };
        let rules = items.iter().filter_map(|node| self.rule(node)).collect();
        Some(Policy { span: node.span, default, rules })
    }

    fn rule(&mut self, node: &Node) -> Option<PolicyRule> {
        if !self.fields.map(node, grammar::POLICY_RULE.title) {
            return None;
        }
        self.keys(node, &grammar::POLICY_RULE);
        let tool = node.get("tool").and_then(|node| self.text(node, "tool"));
        let disposition = node.get("disposition").map(|node| self.disposition(node));
        Some(PolicyRule { span: node.span, tool: tool?, disposition: disposition? })
    }

    fn disposition(&mut self, node: &Node) -> Spanned<Disposition> {
        let disposition = match &node.value {
            Value::Text(text) => match text.value.as_str() {
                "runSync" => Disposition::RunSync,
                "runAsync" => Disposition::RunAsync,
                "defer" => Disposition::Defer { reason: None },
                "deny" => Disposition::Deny { reason: None },
                other => {
                    let near = nearest(other, TAGS);
                    let message = if TAGS.contains(&other) {
                        format!("`{other}` needs more than its name; write `{{\"tag\": \"{other}\", …}}`")
                    } else {
                        format!("`{other}` is no disposition")
                    };
                    let found = Diagnostic::new(&rules::BAD_VALUE, node.span, message);
                    let near = near.filter(|near| *near != other).map(|near| format!("\"{near}\""));
                    self.fields.report(found.suggest(other, near.as_deref(), node.span));
                    Disposition::Hole
                }
            },
            Value::Map(_) => self.tagged(node).unwrap_or(Disposition::Hole),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Hole => {
                self.fields.wrong(node, "a disposition", "a name or a map with a `tag`");
                Disposition::Hole
            }
        };
        Spanned::new(disposition, node.span)
    }

    fn tag(&mut self, node: &Node, title: &str, tags: &[&'static str]) -> Option<&'static str> {
        let Some(tag) = node.get("tag") else {
            self.fields.missing(node, "tag", title);
            return None;
        };
        self.fields.word(tag, "tag", tags).map(|tag| tag.value)
    }

    /// Reports keys that do not belong to the tag.
    fn own_keys(&mut self, node: &Node, own: &[&'static str], title: &str) {
        for entry in node.entries() {
            let key = entry.key.value.as_str();
            if key != "tag"
                && !own.contains(&key)
                && !super::is_comment(entry)
                && !crate::parse::is_hole_entry(entry)
            {
                let names = own.iter().copied();
                self.fields.unknown_key(node, entry, names, title, self.strict);
            }
        }
    }

    fn own_text(&mut self, node: &Node, key: &str) -> Option<String> {
        node.get(key).and_then(|value| self.text(value, key)).map(|text| text.value)
    }

    /// A text that must be there.
    fn must_text(&mut self, node: &Node, key: &str, title: &str) -> Option<String> {
        if node.get(key).is_none_or(|value| value.value == Value::Null) {
            self.fields.missing(node, key, title);
        }
        self.own_text(node, key)
    }

    fn tagged(&mut self, node: &Node) -> Option<Disposition> {
        let tag = self.tag(node, "a disposition", &TAGS)?;
        let title = format!("the disposition `{tag}`");
        Some(match tag {
            "defer" => {
                self.own_keys(node, &["reason"], &title);
                Disposition::Defer { reason: self.own_text(node, "reason") }
            }
            "deny" => {
                self.own_keys(node, &["reason"], &title);
                Disposition::Deny { reason: self.own_text(node, "reason") }
            }
            "runIsolated" => {
                self.own_keys(node, &["spec"], &title);
                let Some(spec) = node.get("spec") else {
                    self.fields.missing(node, "spec", &title);
                    return None;
                };
                Disposition::RunIsolated(self.isolation(spec)?)
            }
            "decorate" => {
                self.own_keys(node, &["decorators", "inner"], &title);
                let items = match node.get("decorators") {
                    Some(list) => self.fields.items(list, "`decorators`"),
                    None => {
                        self.fields.missing(node, "decorators", &title);
                        &[]
                    }
                };
                let decorators = items.iter().filter_map(|node| self.decorator(node)).collect();
                let Some(inner) = node.get("inner") else {
                    self.fields.missing(node, "inner", &title);
                    return None;
                };
                Disposition::Decorate { decorators, inner: Box::new(self.disposition(inner).value) }
            }
            "runAsync" => {
                self.own_keys(node, &[], &title);
                Disposition::RunAsync
            }
            _ => {
                self.own_keys(node, &[], &title);
                Disposition::RunSync
            }
        })
    }

    fn isolation(&mut self, node: &Node) -> Option<Isolation> {
        if !self.fields.map(node, grammar::ISOLATION.title) {
            return None;
        }
        let tag = self.tag(node, grammar::ISOLATION.title, &ISOLATIONS)?;
        let title = format!("the isolation `{tag}`");
        let key = match tag {
            "docker" => "image",
            "localProcess" => "path",
            _ => "target",
        };
        self.own_keys(node, &[key], &title);
        let text = self.must_text(node, key, &title)?;
        let place = node.get(key).map_or(node.span, |value| value.span);
        let text = Spanned::new(text, place);
        Some(match tag {
            "docker" => Isolation::Docker { image: text },
            "localProcess" => Isolation::LocalProcess { path: text },
            _ => Isolation::FunctionRunner { target: text },
        })
    }

    fn decorator(&mut self, node: &Node) -> Option<Decorator> {
        if !self.fields.map(node, grammar::DECORATOR.title) {
            return None;
        }
        let tag = self.tag(node, grammar::DECORATOR.title, &DECORATORS)?;
        let title = format!("the decorator `{tag}`");
        let key = match tag {
            "timeout" => "seconds",
            "retries" => "count",
            "cache" => "key",
            "label" => "label",
            _ => "maxBytes",
        };
        self.own_keys(node, &[key], &title);
        Some(match tag {
            "timeout" => Decorator::Timeout { seconds: self.must_number(node, key, &title, 1..=31_536_000)? },
            "retries" => Decorator::Retries { count: self.must_number(node, key, &title, 0..=100)? },
            "cache" => Decorator::Cache { key: self.own_text(node, key) },
            "label" => Decorator::Label { label: self.must_text(node, key, &title)? },
            _ => {
                let max_bytes = self.must_number(node, key, &title, 1..=u32::MAX)?;
                Decorator::Truncate { max_bytes: u64::from(max_bytes) }
            }
        })
    }

    fn must_number(
        &mut self,
        node: &Node,
        key: &str,
        title: &str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<u32> {
        let Some(value) = node.get(key).filter(|value| value.value != Value::Null) else {
            self.fields.missing(node, key, title);
            return None;
        };
        self.number(value, key, range).map(|number| number.value)
    }
}
