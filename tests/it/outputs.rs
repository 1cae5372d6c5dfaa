//! `check` and what it hands out: one verdict for every way in, formats, fixes, watching.

mod kind;
