//! What commands may name: whole ranges of what this library knows of memory.

use millpond::Access;

use crate::argument::Answer;
use crate::mutants::{Rule, broken};
use crate::numbers::Code;
use crate::usm::find;
use crate::virtual_memory;

/// # Errors
/// Bytes that begin in a program's memory and end outside of it; addresses that are reserved and not
/// mapped in this way. Other memory is the program's own.
pub(crate) fn check_range(address: usize, bytes: usize, access: Access) -> Answer {
    let end = address.checked_add(bytes).ok_or(Code::INVALID_SIZE)?;
    let room = find(address, |usm| {
        usm.memory.bytes() - (address - usm.memory.address().get())
    });
    match room {
        Some(room) if bytes > room && !broken(Rule::Ranges) => Err(Code::INVALID_SIZE),
        Some(_) => Ok(()),
        None if broken(Rule::MappedRanges) => Ok(()),
        None => virtual_memory::check(address..end, access),
    }
}
