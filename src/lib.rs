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

// Floor 1: places, data, time.
pub mod grammar;
pub mod schedule;
pub mod schema;
pub mod source;
pub mod time;
pub mod tree;
// Floor 2: the two trees and what is said of them.
pub mod ast;
pub mod diagnostic;
pub mod ir;
// Floor 3: text into trees, names and flow.
pub mod parse;
pub mod resolve;
// Floor 4: what must hold, and the frozen form.
pub mod check;
pub mod lower;
// Floor 5: the one door.
pub mod compile;
