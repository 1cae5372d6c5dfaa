//! The binary: hands arguments and streams to `cli`, nothing else.

/// Trees of many small pieces are built and dropped: this allocator takes a quarter off a check.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flowright::cli::main()
}
