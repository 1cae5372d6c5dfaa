//! What must hold before a definition may be frozen: the table of rules, and the walk over them.
//!
//! One file a rule. A rule says what is wrong with what was written and nothing about the consequences of another
//! finding: what is bound to something unknown, what cannot be reached or read, is passed over in silence.

pub mod bindings;
pub mod bound;
pub mod types;

use crate::ast;
use crate::diagnostic::{Diagnostic, Rule};
use crate::resolve::facts::Facts;
use crate::resolve::flow::NodeIndex;
use crate::resolve::{Around, Resolved};
use crate::source::Source;
use crate::time::Timestamp;
use crate::tree::Node;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*
        /// Every rule of this room, by name.
        pub static ALL: &[&Rule] = &[$(&$module::RULE),*];
    };
}

rules! {
    agent_without_base,
    bad_ignore,
    bad_model_url,
    bad_setting,
    break_outside_loop,
    broken_guarantee,
    clock_change,
    cron_never_occurs,
    dead_pick_entry,
    deadline_beyond_outer,
    deadline_beyond_period,
    default_misfit,
    duplicate_id,
    duplicate_slug,
    duplicate_toolbox,
    empty_toolbox,
    hidden_character,
    id_like_output,
    idle_default,
    idle_key,
    idle_policy_rule,
    ignore_without_reason,
    ignored_error,
    impossible_case,
    installed_agent,
    invalid_cron,
    invalid_respondent,
    invalid_schema,
    isolation_without_runner,
    loop_never_repeats,
    loose_schema,
    misfit_choose,
    misfit_input,
    misfit_switch,
    misplaced_root,
    missing_agent,
    missing_api_key_id,
    missing_on_exhausted,
    missing_sandbox,
    missing_schema,
    missing_timezone,
    missing_toolbox_file,
    misspelt_required,
    near_miss_name,
    odd_cron,
    optional_field,
    plain_secret,
    refused_path,
    reserved_id,
    result_not_object,
    shadowed_policy_rule,
    single_choice,
    slug_unlike_file,
    unanswerable_deferral,
    unassigned_binding,
    unattended_approval,
    unbounded_loop,
    uncovered_case,
    unknown_base,
    unknown_field,
    unknown_guarantee_step,
    unknown_input,
    unknown_output,
    unknown_root,
    unknown_rule,
    unknown_schema_keyword,
    unknown_setting,
    unknown_skill,
    unknown_step,
    unknown_timezone,
    unknown_tool,
    unreachable_step,
    unusable_extra_agent,
    unused_agent,
    unused_ignore,
    unused_input,
    unused_pick,
}

/// What the rules look at.
#[derive(Debug)]
pub struct Context<'a, 'r> {
    /// The definition with names bound and flow drawn.
    pub resolved: &'r Resolved<'a>,
    /// What is definite where.
    pub facts: Facts,
    /// What can be reached.
    pub reachable: HashSet<NodeIndex>,
    /// Every binding with its reader.
    pub uses: Vec<bindings::Use<'a>>,
    /// What is known of the value of each pick that was asked for.
    pub picks: RefCell<HashMap<NodeIndex, types::Known>>,
    /// Schemas, compiled.
    pub schemas: types::Schemas,
    /// Ids that more than one step carries.
    pub repeated: HashSet<&'a str>,
    /// The largest number of agent runs between two waits.
    pub bound: bound::Bound,
    /// From when on dates are looked at.
    pub as_of: Timestamp,
}

impl<'a, 'r> Context<'a, 'r> {
    /// All that is known of a definition but the bound, which only the rules need.
    #[must_use]
    pub fn new(resolved: &'r Resolved<'a>, as_of: Timestamp) -> Self {
        Self {
            resolved,
            facts: Facts::of(&resolved.flow),
            reachable: resolved.flow.reachable(),
            uses: bindings::collect(resolved),
            picks: RefCell::default(),
            schemas: types::compile(resolved),
            repeated: duplicate_id::repeated(resolved),
            bound: bound::Bound::default(),
            as_of,
        }
    }
}

/// Runs every rule; gives the largest number of agent runs between two waits, `None` if there is no bound.
pub fn check(resolved: &Resolved<'_>, as_of: Timestamp, out: &mut Vec<Diagnostic>) -> Option<u64> {
    let cx = Context { bound: bound::agent_runs(resolved), ..Context::new(resolved, as_of) };
    duplicate_id::check(&cx, out);
    reserved_id::check(&cx, out);
    break_outside_loop::check(&cx, out);
    near_miss_name::check(&cx, out);
    id_like_output::check(&cx, out);
    idle_key::check(&cx, out);
    unreachable_step::check(&cx, out);
    loop_never_repeats::check(&cx, out);
    unbounded_loop::check(&cx, out);
    missing_on_exhausted::check(&cx, out);
    bindings::check(&cx, out);
    unassigned_binding::check(&cx, out);
    unused_pick::check(&cx, out);
    dead_pick_entry::check(&cx, out);
    single_choice::check(&cx, out);
    invalid_respondent::check(&cx, out);
    misfit_choose::check(&cx, out);
    missing_timezone::check(&cx, out);
    invalid_cron::check(&cx, out);
    invalid_schema::check(&cx, out);
    invalid_schema::each(&cx, &mut |schema| words_of_schema(schema, out));
    result_not_object::check(&cx, out);
    loose_schema::check(&cx, out);
    default_misfit::check(&cx, out);
    unknown_field::check(&cx, out);
    uncovered_case::check(&cx, out);
    misfit_input::check(&cx, out);
    missing_agent::check(&cx, out);
    for (path, file) in &resolved.symbols.agents.files {
        agent_file(&file.agent, path, Some(&file.around), out);
    }
    duplicate_slug::check(&cx, out);
    plain_secret::check(&cx, out);
    unanswerable_deferral::check(&cx, out);
    unused_agent::check(&cx, out);
    unused_input::check(&cx, out);
    unattended_approval::check(&cx, out);
    deadline_beyond_period::check(&cx, out);
    deadline_beyond_outer::check(&cx, out);
    broken_guarantee::check(&cx, out);
    cx.bound.runs
}

/// What can be said of the characters of a file, whatever it means.
pub fn text(source: &Source, out: &mut Vec<Diagnostic>) {
    hidden_character::check_text(source, out);
    plain_secret::check_text(source, out);
}

/// What can be said of an agent file alone. `path` is its package path; `around` what its package holds, if known.
pub fn agent(agent: &ast::Agent, path: &str, around: Option<&Around>, out: &mut Vec<Diagnostic>) {
    agent_file(agent, path, around, out);
    invalid_schema::check_agent(agent, out);
    if let Some(inputs) = &agent.inputs {
        words_of_schema(inputs, out);
    }
}

/// What can be said of a schema whether or not it is valid.
fn words_of_schema(schema: &Node, out: &mut Vec<Diagnostic>) {
    unknown_schema_keyword::check_schema(schema, out);
    misspelt_required::check_schema(schema, out);
}

fn agent_file(agent: &ast::Agent, path: &str, around: Option<&Around>, out: &mut Vec<Diagnostic>) {
    unknown_base::check_agent(agent, out);
    shadowed_policy_rule::check_agent(agent, out);
    idle_policy_rule::check_agent(agent, out);
    unanswerable_deferral::check_agent(agent, out);
    isolation_without_runner::check_agent(agent, around, out);
    bad_model_url::check_agent(agent, out);
    plain_secret::check_agent(agent, out);
    missing_api_key_id::check_agent(agent, out);
    slug_unlike_file::check_agent(agent, path, out);
    refused_path::check_agent(agent, out);
    duplicate_toolbox::check_agent(agent, out);
    missing_sandbox::check_agent(agent, out);
    empty_toolbox::check_boxes(agent, out);
    unknown_tool::check_agent(agent, around, out);
    if let Some(around) = around {
        missing_toolbox_file::check_agent(agent, around, out);
        unusable_extra_agent::check_agent(agent, around, out);
        unknown_skill::check_agent(agent, around, out);
        empty_toolbox::check_agent(agent, around, out);
    }
}
