//! The binary: hands arguments and streams to `cli`, nothing else.

fn main() -> std::process::ExitCode {
    flowright::cli::main()
}
