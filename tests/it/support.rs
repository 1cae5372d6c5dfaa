//! What several rooms build on.
pub mod ir;
