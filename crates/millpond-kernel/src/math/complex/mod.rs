//! Complex functions over any real.
