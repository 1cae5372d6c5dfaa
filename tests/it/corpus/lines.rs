//! Places in long lines.
