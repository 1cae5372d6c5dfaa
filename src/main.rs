//! The binary: hands arguments and streams to `cli`, nothing else.

fn main() {}
