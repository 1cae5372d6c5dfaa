//! What several rooms build on.
pub(crate) mod dice;
pub(crate) mod ir;
pub(crate) mod kill_store;
pub(crate) mod world;

/// When every test compiles: the first of December 2025, midnight UTC.
pub(crate) const AS_OF: flowright::time::Timestamp = flowright::time::Timestamp(1_764_547_200_000);
