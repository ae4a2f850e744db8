//! The Rust code of the pages, compiled and run as documentation tests; empty otherwise.

macro_rules! pages {
    ($($name:ident $path:literal;)*) => { $(
        #[cfg(doctest)]
        #[doc = include_str!(concat!("../../../", $path))]
        mod $name {}
    )* };
}

pages! {
    readme "README.md";
    rust_guide "docs/guides/rust.md";
    graphs "docs/concepts/graphs.md";
}
