//! What several rooms build on.
pub(crate) mod ir;
pub(crate) mod kill_store;
pub(crate) mod world;
