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
    NOT_UTF8 Error "not-utf8" "The file holds bytes that are not UTF-8";
    CONTROL_CHARACTER Error "control-character" "A control character stands in the text";
    TOO_LARGE Error "too-large" "The document is larger than 256 KiB";
    // YAML and JSON.
    SYNTAX_ERROR Error "syntax-error" "The text is not well-formed YAML or JSON";
    TAB_INDENTATION Error "tab-indentation" "A tab is used as indentation";
    TOO_DEEP Error "too-deep" "Values are nested more than 32 deep";
    SCALAR_TOO_LONG Error "scalar-too-long" "A scalar is longer than 64 KiB";
    EMPTY_DOCUMENT Error "empty-document" "The document is empty";
    SECOND_DOCUMENT Error "second-document" "A second YAML document begins in the file";
    ANCHOR_OR_ALIAS Error "anchor-or-alias" "A YAML anchor or alias is used";
    TAG Error "tag" "A YAML tag is used";
    YAML_DIRECTIVE Error "yaml-directive" "A YAML directive other than `%YAML 1.2` is used";
    MERGE_KEY Error "merge-key" "A YAML merge key is used";
    DUPLICATE_KEY Error "duplicate-key" "A key stands twice in one map";
    KEY_NOT_TEXT Error "key-not-text" "A key is missing or is no plain scalar";
    NUMBER_NOT_JSON Error "number-not-json" "A number cannot be written in JSON";
    SWALLOWED_COMMENT Error "swallowed-comment" "Text after ` #` is lost as a comment";
    COLON_IN_PLAIN_TEXT Error "colon-in-plain-text" "Unquoted text holds a colon and a space";
    UNQUOTED_CRON Error "unquoted-cron" "A cron text begins with a YAML indicator and is not quoted";
    UNQUOTED_BINDING Error "unquoted-binding" "A binding inside braces or brackets is not quoted";
    UNQUOTED_INDICATOR Error "unquoted-indicator" "Unquoted text begins with a YAML indicator";
    NULL_IN_TYPE Error "null-in-type" "A schema type is YAML's null instead of the text `null`";
    YES_NO_WORD Hint "yes-no-word" "A word that is text stands where true or false is expected";
    // Bindings.
    UNCLOSED_BINDING Error "unclosed-binding" "A binding is not closed";
    EMPTY_BINDING Error "empty-binding" "A binding names nothing";
    EXPRESSION_IN_BINDING Error "expression-in-binding" "A binding holds an expression";
    MALFORMED_BINDING Error "malformed-binding" "The path of a binding cannot be read";
    BINDING_NOT_ALLOWED Error "binding-not-allowed" "A binding stands where none is read";
    BINDING_EXPECTED Error "binding-expected" "Something else stands where exactly one binding is expected";
    // Keys and values.
    UNKNOWN_KEY Error "unknown-key" "A key is not part of the language";
    MISSING_KEY Error "missing-key" "A required key is missing";
    WRONG_SHAPE Error "wrong-shape" "A value has the wrong shape";
    BAD_VALUE Error "bad-value" "A value is none of those allowed";
    BAD_NAME Error "bad-name" "A name has the wrong form";
    BAD_DURATION Error "bad-duration" "A duration cannot be read";
    NUMBER_OUT_OF_RANGE Error "number-out-of-range" "A number is outside its range";
    BAD_TRANSITION Error "bad-transition" "A transition cannot be read";
    NO_STEP_KIND Error "no-step-kind" "A step has no kind key";
    SEVERAL_STEP_KINDS Error "several-step-kinds" "A step has several kind keys";
    REVIEW_MISMATCH Error "review-mismatch" "`completion` and `review` do not fit each other";
    UNSUPPORTED_CONSTRUCT Error "unsupported-construct" "A construct is deliberately not part of the language";
    TOO_MANY_STEPS Error "too-many-steps" "The document has more than 500 steps";
    TOO_MANY_CHOICES Error "too-many-choices" "There are more than 64 choices or cases";
    UNSUPPORTED_TOOLBOX Error "unsupported-toolbox" "A kind of toolbox, or a part of one, is not supported";
    // Rehearsals.
    FAILED_EXPECTATION Error "failed-expectation" "An expectation of a rehearsal does not hold";
    REFUSED_STEP Error "refused-step" "A step of a rehearsal cannot be taken";
    UNUSABLE_WORKFLOW Error "unusable-workflow" "The workflow of a rehearsal is not there or has errors";
    // Agents.
    NO_FRONT_MATTER Error "no-front-matter" "A Markdown agent has no front matter";
}
