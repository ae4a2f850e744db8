//! Memory exchanged with others: the only folder with unsafe code.

#[allow(
    unsafe_code,
    reason = "is called by C, for streams that somebody else owns"
)]
pub(crate) mod allocator;
#[allow(unsafe_code, reason = "fills the buffer views of Python")]
pub(crate) mod buffer_protocol;
pub(crate) mod by_address;
#[allow(unsafe_code, reason = "reads and writes the structures of DLPack")]
pub(crate) mod dlpack;
mod elements;
#[allow(unsafe_code, reason = "vouches for memory that somebody else owns")]
pub(crate) mod foreign;
mod format;
pub(crate) mod interface;
#[allow(unsafe_code, reason = "hands pointers to native extensions")]
pub(crate) mod native;
pub(crate) mod numpy;
#[allow(unsafe_code, reason = "vouches for streams that somebody else owns")]
pub(crate) mod stream;
#[allow(unsafe_code, reason = "reads the buffer views of Python")]
pub(crate) mod view;
