//! The one tool of the repository.
fn main() {}
