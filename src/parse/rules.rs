//! The rules that reading can find broken. Each has its page in `docs/diagnostics/`. Nothing here looks at a text.

use crate::diagnostic::{Rule, Severity};

macro_rules! rules {
    ($($id:ident $severity:ident $name:literal $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $id: Rule = Rule {
                name: $name,
                severity: Severity::$severity,
                summary: $summary,
                page: include_str!(concat!("../../docs/diagnostics/", $name, ".md")),
            };
        )*

        /// All rules of reading, in the order of this file.
        pub static ALL: &[&Rule] = &[$(&$id),*];
    };
}

rules! {
    // The bytes.
    NOT_UTF8 Error "not-utf8" "the file holds bytes that are not UTF-8";
    CONTROL_CHARACTER Error "control-character" "a control character stands in the text";
    TOO_LARGE Error "too-large" "the document is larger than 256 KiB";
    // YAML and JSON.
    SYNTAX_ERROR Error "syntax-error" "the text is not well-formed YAML or JSON";
    TAB_INDENTATION Error "tab-indentation" "a tab is used as indentation";
    TOO_DEEP Error "too-deep" "values are nested more than 32 deep";
    SCALAR_TOO_LONG Error "scalar-too-long" "a scalar is longer than 64 KiB";
    EMPTY_DOCUMENT Error "empty-document" "the document is empty";
    SECOND_DOCUMENT Error "second-document" "a second YAML document begins in the file";
    ANCHOR_OR_ALIAS Error "anchor-or-alias" "a YAML anchor or alias is used";
    TAG Error "tag" "a YAML tag is used";
    YAML_DIRECTIVE Error "yaml-directive" "a YAML directive other than `%YAML 1.2` is used";
    MERGE_KEY Error "merge-key" "a YAML merge key is used";
    DUPLICATE_KEY Error "duplicate-key" "a key stands twice in one map";
    KEY_NOT_TEXT Error "key-not-text" "a key is missing or is no plain scalar";
    NUMBER_NOT_JSON Error "number-not-json" "a number cannot be written in JSON";
    SWALLOWED_COMMENT Error "swallowed-comment" "text after ` #` is lost as a comment";
    COLON_IN_PLAIN_TEXT Error "colon-in-plain-text" "unquoted text holds a colon and a space";
    UNQUOTED_CRON Error "unquoted-cron" "a cron text begins with a YAML indicator and is not quoted";
    UNQUOTED_BINDING Error "unquoted-binding" "a binding inside braces or brackets is not quoted";
    UNQUOTED_INDICATOR Error "unquoted-indicator" "unquoted text begins with a YAML indicator";
    NULL_IN_TYPE Error "null-in-type" "a schema type is YAML's null instead of the text `null`";
    YES_NO_WORD Hint "yes-no-word" "a word that is text stands where true or false is expected";
    // Bindings.
    UNCLOSED_BINDING Error "unclosed-binding" "a binding is not closed";
    EMPTY_BINDING Error "empty-binding" "a binding names nothing";
    EXPRESSION_IN_BINDING Error "expression-in-binding" "a binding holds an expression";
    MALFORMED_BINDING Error "malformed-binding" "the path of a binding cannot be read";
    BINDING_NOT_ALLOWED Error "binding-not-allowed" "a binding stands where none is read";
    BINDING_EXPECTED Error "binding-expected" "something else stands where exactly one binding is expected";
    // Keys and values.
    UNKNOWN_KEY Error "unknown-key" "a key is not part of the language";
    MISSING_KEY Error "missing-key" "a required key is missing";
    WRONG_SHAPE Error "wrong-shape" "a value has the wrong shape";
    BAD_VALUE Error "bad-value" "a value is none of those allowed";
    BAD_NAME Error "bad-name" "a name has the wrong form";
    BAD_DURATION Error "bad-duration" "a duration cannot be read";
    NUMBER_OUT_OF_RANGE Error "number-out-of-range" "a number is outside its range";
    BAD_TRANSITION Error "bad-transition" "a transition cannot be read";
    NO_STEP_KIND Error "no-step-kind" "a step has no kind key";
    SEVERAL_STEP_KINDS Error "several-step-kinds" "a step has several kind keys";
    REVIEW_MISMATCH Error "review-mismatch" "`completion` and `review` do not fit each other";
    UNSUPPORTED_CONSTRUCT Error "unsupported-construct" "a construct is deliberately not part of the language";
    TOO_MANY_STEPS Error "too-many-steps" "the document has more than 500 steps";
    TOO_MANY_CHOICES Error "too-many-choices" "there are more than 64 choices or cases";
    NO_FRONT_MATTER Error "no-front-matter" "a Markdown agent has no front matter";
}
