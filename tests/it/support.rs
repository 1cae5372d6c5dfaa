//! What several rooms build on.
pub(crate) mod ir;
pub(crate) mod world;
