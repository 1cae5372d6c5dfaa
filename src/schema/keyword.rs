//! The keywords of JSON Schema, draft 2020-12, as one table: what each holds and whether it is supported.
//!
//! The form of schemas, the walks, the hints and the page of the language are made from it.

/// A keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// As it is written.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// One line for people.
    pub doc: &'static str,
}

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A schema.
    Schema,
    /// A map from names to schemas.
    SchemaMap,
    /// A map from regular expressions to schemas.
    PatternMap,
    /// A list of at least one schema.
    SchemaList,
    /// A type or a list of different types.
    Types,
    /// A list of different names.
    Names,
    /// A map from names to lists of different names.
    NameLists,
    /// A list of at least one value.
    Values,
    /// A list of any values.
    List,
    /// Any value.
    Any,
    /// A whole number from 0.
    Count,
    /// A number.
    Number,
    /// A number above 0.
    Positive,
    /// True or false.
    Boolean,
    /// A regular expression.
    Pattern,
    /// Text.
    Text,
    /// A reference to another schema.
    Reference,
    /// The name of the dialect.
    Dialect,
    /// A name within the document.
    Anchor,
    /// The name of the whole document.
    Id,
    /// Refused, for this reason.
    Refused(&'static str),
}

const fn keyword(name: &'static str, shape: Shape, doc: &'static str) -> Keyword {
    Keyword { name, shape, doc }
}

const DYNAMIC: &str = "what it means depends on the way to it; write `$ref`";

/// Every keyword, in the order of the page.
#[rustfmt::skip]
pub const KEYWORDS: &[Keyword] = &[
    keyword("type", Shape::Types, "kind of the value, or a list of kinds"),
    keyword("enum", Shape::Values, "the values that are allowed"),
    keyword("const", Shape::Any, "the only value that is allowed"),
    keyword("properties", Shape::SchemaMap, "schemas of named properties"),
    keyword("required", Shape::Names, "properties that must be there"),
    keyword("additionalProperties", Shape::Schema, "of the properties not named; false forbids them"),
    keyword("patternProperties", Shape::PatternMap, "schemas of properties whose name matches"),
    keyword("propertyNames", Shape::Schema, "of the names themselves"),
    keyword("minProperties", Shape::Count, "least number of properties"),
    keyword("maxProperties", Shape::Count, "largest number of properties"),
    keyword("dependentRequired", Shape::NameLists, "properties that must be there if another one is"),
    keyword("dependentSchemas", Shape::SchemaMap, "schemas of the whole object if a property is there"),
    keyword("unevaluatedProperties", Shape::Schema, "of the properties that no other keyword has judged"),
    keyword("items", Shape::Schema, "of the items of a list (behind `prefixItems`)"),
    keyword("prefixItems", Shape::SchemaList, "of the first items, one by one"),
    keyword("contains", Shape::Schema, "of at least one item"),
    keyword("minContains", Shape::Count, "how many items at least fit `contains`"),
    keyword("maxContains", Shape::Count, "how many items at most fit `contains`"),
    keyword("minItems", Shape::Count, "least number of items"),
    keyword("maxItems", Shape::Count, "largest number of items"),
    keyword("uniqueItems", Shape::Boolean, "whether all items must differ"),
    keyword("unevaluatedItems", Shape::Schema, "of the items that no other keyword has judged"),
    keyword("minLength", Shape::Count, "least number of characters"),
    keyword("maxLength", Shape::Count, "largest number of characters"),
    keyword("pattern", Shape::Pattern, "regular expression that must match somewhere in a text"),
    keyword("minimum", Shape::Number, "least number"),
    keyword("maximum", Shape::Number, "largest number"),
    keyword("exclusiveMinimum", Shape::Number, "number that must be exceeded"),
    keyword("exclusiveMaximum", Shape::Number, "number that must not be reached"),
    keyword("multipleOf", Shape::Positive, "number that must divide the value"),
    keyword("allOf", Shape::SchemaList, "schemas that must all fit"),
    keyword("anyOf", Shape::SchemaList, "schemas of which at least one must fit"),
    keyword("oneOf", Shape::SchemaList, "schemas of which exactly one must fit"),
    keyword("not", Shape::Schema, "a schema that must not fit"),
    keyword("if", Shape::Schema, "a schema that decides between `then` and `else`"),
    keyword("then", Shape::Schema, "must fit if `if` fits"),
    keyword("else", Shape::Schema, "must fit if `if` does not fit"),
    keyword("$ref", Shape::Reference, "another schema: `#/…` in the document, or a file of the package"),
    keyword("$defs", Shape::SchemaMap, "schemas for `$ref`"),
    keyword("definitions", Shape::SchemaMap, "older name of `$defs`"),
    keyword("$anchor", Shape::Anchor, "a name for `$ref: \"#name\"`"),
    keyword("$id", Shape::Id, "name of the whole document; only at its top"),
    keyword("$schema", Shape::Dialect, "the dialect, draft 2020-12"),
    keyword("$comment", Shape::Text, "for readers of the schema"),
    keyword("title", Shape::Text, "a few words for people and models"),
    keyword("description", Shape::Text, "a sentence for people and models"),
    keyword("default", Shape::Any, "the value where none is given"),
    keyword("examples", Shape::List, "values that fit"),
    keyword("deprecated", Shape::Boolean, "whether it should no longer be used"),
    keyword("readOnly", Shape::Boolean, "said, and not enforced"),
    keyword("writeOnly", Shape::Boolean, "said, and not enforced"),
    keyword("format", Shape::Text, "said, and not enforced; `artifact` is a reference to stored bytes"),
    keyword("contentEncoding", Shape::Text, "said, and not enforced"),
    keyword("contentMediaType", Shape::Text, "said, and not enforced"),
    keyword("contentSchema", Shape::Schema, "said, and not enforced"),
    keyword("$dynamicRef", Shape::Refused(DYNAMIC), "refused"),
    keyword("$dynamicAnchor", Shape::Refused(DYNAMIC), "refused"),
    keyword("$recursiveRef", Shape::Refused("it is of an older draft; write `$ref: \"#\"`"), "refused"),
    keyword("$recursiveAnchor", Shape::Refused("it is of an older draft; write `$ref`"), "refused"),
    keyword("$vocabulary", Shape::Refused("only a description of dialects has it"), "refused"),
    keyword("additionalItems", Shape::Refused("it is of an older draft; write `items` behind `prefixItems`"), "refused"),
    keyword("dependencies", Shape::Refused("it is of an older draft; write `dependentRequired` or `dependentSchemas`"), "refused"),
];

/// The keyword of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

/// The supported keyword that is nearest to a name that is none.
#[must_use]
pub fn nearest(written: &str) -> Option<&'static str> {
    let supported = KEYWORDS.iter().filter(|keyword| !matches!(keyword.shape, Shape::Refused(_)));
    near(written, supported.map(|keyword| keyword.name))
}

/// The nearest of some names, if it is near enough to be meant.
#[must_use]
pub fn near<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    let most = |name: &str| (name.chars().count().max(written.chars().count()) / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= most(name) && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
