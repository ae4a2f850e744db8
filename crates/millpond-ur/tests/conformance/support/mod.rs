//! What tests of an adapter need: its functions as C sees them, and the objects of a test.
//!
//! Nothing here knows the adapter: with a loader, whichever it finds is tested.

pub(crate) mod again;
pub(crate) mod any;
pub(crate) mod functions;
pub(crate) mod gate;
pub(crate) mod launch;
pub(crate) mod load;
pub(crate) mod shapes;
pub(crate) mod watch;
pub(crate) mod world;
