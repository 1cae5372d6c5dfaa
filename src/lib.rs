//! Flowright: a toolchain for workflow definitions in which AI agents do the work and people sign it off.
//!
//! ```text
//! text ──parse──▶ ast ──resolve──▶ Resolved ──check──▶ diagnostics ──▶ report
//!                                     └─ no error ─▶ lower ──▶ ir::Workflow ──▶ preview
//!                                                                 │
//! notification ──▶ engine: decide ─▶ events ─▶ evolve ─▶ state ─▶ pending ─▶ commands
//!        ▲                             │                             │
//!        └────────── host ◀── store ◀──┴─────────────────────────────┘
//! ```
//!
//! The modules below stand in reading order, which is also the order of the floors: a module imports only modules
//! of lower floors, and a test holds this. See `docs/architecture.md`.

// Floors 0 and 1: places, time, escaping; data, the language's table, schedules, schemas.
pub mod escape;
pub mod grammar;
pub mod schedule;
pub mod schema;
pub mod secret;
pub mod source;
pub mod time;
pub mod tree;
// Floor 2: the two trees and what is said of them.
pub mod ast;
pub mod diagnostic;
pub mod ir;
// Floor 3: reading, binding names, printing, the engine.
pub mod engine;
pub mod package;
pub mod parse;
pub mod preview;
pub mod report;
pub mod resolve;
// Floor 4: judging, freezing, keeping.
pub mod check;
pub mod lower;
pub mod store;
// Floor 5: the one door, and the world; what a project wants of its checks.
pub mod compile;
pub mod exchange;
pub mod fmt;
pub mod host;
pub mod settings;
// Floor 6: what editors ask; rehearsals; one verdict for every way in.
pub mod ide;
pub mod rehearse;
pub mod verdict;
pub mod why;
// Floor 7: the wire to editors.
pub mod lsp;
// Floor 8: the command line.
pub mod cli;
