//! What a kernel is on devices that don't execute the host's code: source that they compile, and how
//! it is launched.
//!
//! A kernel that such a device can run has [`DeviceCode`] besides its body for the host. A backend
//! that compiles asks for the source once for each [`DeviceCode::key`], keeps what it made of it, and
//! asks for the launches of each command. Kernels without code are carried out by the host.
//!
//! Source is C++ as compilers of graphics processors know it, without any header: entries are
//! `extern "C" __global__` functions that take one structure by value, whose bytes are the
//! launch's [`Arguments`].

use std::fmt;

use smallvec::SmallVec;

use crate::command::Address;
use crate::kernel::KernelError;

/// What a launch needs to know about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Processors that run blocks of threads.
    pub multiprocessors: u32,
    /// Threads that one of them holds at a time.
    pub resident_threads: u32,
    /// Threads that step together.
    pub warp: u32,
    /// Bytes of memory that the threads of a block may share.
    pub shared_memory: u32,
}

/// What a command's launches are made for.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// One address for each operand of the kernel.
    pub bases: &'a [Address],
    /// The device.
    pub machine: &'a Machine,
    /// As many bytes as [`DeviceCode::scratch`] asked for, aligned to 256 bytes, with no content that
    /// counts; the launch's own until it has ended.
    pub scratch: Address,
    /// A [`Report`] that is all zero, where [`DeviceCode::reports`]; the launches write there what they
    /// find.
    pub report: Address,
}

/// What launches tell the host: the first word is zero while there is nothing to tell.
///
/// Whoever finds something takes the first word from zero to its own code by an atomic exchange,
/// and writes the other words if it was the one.
pub type Report = [u64; 4];

/// The argument of an entry: the bytes of the structure that it takes.
///
/// Members are appended in their order, each at the next multiple of its size, as a C compiler would
/// place them.
///
/// ```
/// use millpond_hal::code::Arguments;
///
/// let mut arguments = Arguments::default();
/// arguments.push(7_u32.to_ne_bytes());
/// arguments.push(9_u64.to_ne_bytes());
/// assert_eq!(arguments.bytes().len(), 16);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(SmallVec<[u8; 128]>);

impl Arguments {
    /// Appends a member of `N` bytes, a power of two up to 16.
    pub fn push<const N: usize>(&mut self, member: [u8; N]) {
        const { assert!(N.is_power_of_two() && N <= 16, "a scalar's size") };
        let start = self.0.len().next_multiple_of(N);
        self.0.resize(start, 0);
        self.0.extend_from_slice(&member);
    }

    /// Appends an address.
    pub fn push_address(&mut self, address: Address) {
        self.push((address.get() as u64).to_ne_bytes());
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// One launch of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The entry's name in the source.
    pub entry: &'static str,
    /// Blocks, along each axis; a launch without blocks is left out.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes that the threads of a block share, beyond what the source declares.
    pub shared_memory: u32,
    /// What the entry takes.
    pub arguments: Arguments,
}

/// The launches of a command, in their order.
pub type Launches = SmallVec<[Launch; 2]>;

/// A kernel as source.
///
/// Of a kernel that may grow, everything here is asked after [`begin`](crate::HostKernel::begin).
/// All but the source is asked for under locks of the backend: it takes no time, and calls nobody.
///
/// # Safety
/// The launches that [`DeviceCode::launches`] answers touch no memory but the scratch, the report and,
/// of the operands, what the kernel's footprints say.
pub unsafe trait DeviceCode: Send + Sync {
    /// Appends what the source is made from: kernels of equal keys have equal sources. Making it is
    /// cheap, and it says nothing of addresses and sizes.
    fn key(&self, key: &mut Vec<u8>);

    /// The source.
    fn source(&self) -> String;

    /// Code that does the same, if not as fast, and that many kernels have in common: it may be there when
    /// this has yet to be compiled. A report of its launches is read as one of this code's.
    fn meanwhile(&self) -> Option<&dyn DeviceCode> {
        None
    }

    /// Bytes of scratch memory that the launches use.
    fn scratch(&self, machine: &Machine) -> usize {
        let _ = machine;
        0
    }

    /// Whether the launches may find an error, and write it to the report.
    fn reports(&self) -> bool {
        false
    }

    /// What to launch, one after the other.
    fn launches(&self, call: &Call<'_>) -> Launches;

    /// The error that a report with a first word other than zero tells of.
    fn error(&self, report: Report) -> KernelError {
        KernelError::from(format!("the device reported {report:?}"))
    }
}

impl fmt::Debug for dyn DeviceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = Vec::new();
        self.key(&mut key);
        write!(f, "code of {} bytes of key", key.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use crate::Address;

    #[test]
    fn members_lie_where_c_puts_them() {
        let mut arguments = Arguments::default();
        arguments.push([1]);
        arguments.push(2_u16.to_ne_bytes());
        arguments.push([3]);
        arguments.push_address(Address::new(4));
        let mut expected = vec![1, 0];
        expected.extend(2_u16.to_ne_bytes());
        expected.extend([3, 0, 0, 0]);
        expected.extend(4_u64.to_ne_bytes());
        assert_eq!(arguments.bytes(), expected);
    }
}
