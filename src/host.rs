//! The loop and every effect. The only room with clocks, randomness, processes and the network.

pub mod clock;
pub mod holder;
pub mod isolate;
pub mod model;
pub mod perform;
pub mod real;
pub mod response;
pub mod run;
pub mod tool;
pub mod work;
