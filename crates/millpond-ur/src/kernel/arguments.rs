//! The arguments of kernels: bytes, addresses, buffers, and memory of each work group.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::argument::{Answer, In, Pointer};
use crate::buffer::Buffer;
use crate::entry::entry;
use crate::handle::Handle;
use crate::kernel::Kernel;
use crate::numbers::{Code, KernelArgumentKind};
use crate::structures::{Header, KernelArgument, UpdateKernelLaunch};

/// More arguments than a kernel has, and more bytes than one.
const MOST: u32 = 1024;
const LARGEST: usize = 4096;

/// An argument.
#[derive(Clone, Debug)]
enum Argument {
    /// Bytes, which for pointers are an address.
    Bytes(SmallVec<[u8; 16]>),
    /// The address of a buffer's bytes; the buffer lives as long.
    Buffer(Arc<Buffer>),
    /// So many bytes of each group's own.
    Local(usize),
}

/// Arguments by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(BTreeMap<u32, Argument>);

impl Arguments {
    /// How many there are, if those that weren't set are counted.
    pub(super) fn count(&self) -> u32 {
        self.0.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// # Errors
    /// A number beyond all kernels.
    fn set(&mut self, index: u32, argument: Argument) -> Answer {
        if index >= MOST {
            return Err(Code::INVALID_KERNEL_ARGUMENT_INDEX);
        }
        self.0.insert(index, argument);
        Ok(())
    }

    /// Those of a list.
    pub(crate) fn of(list: &[KernelArgument], local_memory: usize) -> Answer<Self> {
        let mut arguments = Self::default();
        for one in list {
            arguments.set(one.index, Argument::read(one, local_memory)?)?;
        }
        arguments.check()?;
        Ok(arguments)
    }

    /// Changes some of those that there are.
    ///
    /// # Errors
    /// A number that has no argument, or arguments that can't be.
    pub(crate) fn change(&mut self, desc: &UpdateKernelLaunch, kernel: &Kernel) -> Answer {
        let mut changes = Vec::new();
        for one in desc.buffers.list(desc.buffer_count as usize)? {
            changes.push((one.index, Argument::buffer(one.buffer)?));
        }
        for one in desc.pointers.list(desc.pointer_count as usize)? {
            changes.push((one.index, Argument::pointer(one.pointer)));
        }
        for one in desc.values.list(desc.value_count as usize)? {
            let is_local = one.value.number() == 0;
            let argument = if is_local {
                Argument::local(one.size, kernel.local_memory())
            } else {
                Argument::value(one.value, one.size)
            };
            changes.push((one.index, argument?));
        }
        for (index, argument) in changes {
            let place = self.0.get_mut(&index);
            *place.ok_or(Code::INVALID_KERNEL_ARGUMENT_INDEX)? = argument;
        }
        Ok(())
    }

    /// # Errors
    /// A number before the last that has no argument.
    pub(super) fn check(&self) -> Answer {
        if self.count() as usize != self.0.len() {
            return Err(Code::INVALID_KERNEL_ARGS);
        }
        Ok(())
    }

    /// What an entry is launched with, whose parameters have so many bytes where that is known. Memory of a
    /// group's own is one piece, of which each argument has a part: its parameter is where that begins.
    ///
    /// # Errors
    /// Other arguments than it has parameters, or of other sizes.
    pub(super) fn for_entry(&self, parameters: Option<&[usize]>) -> Answer<Parameters> {
        if parameters.is_some_and(|parameters| parameters.len() != self.0.len()) {
            return Err(Code::INVALID_KERNEL_ARGS);
        }
        let mut made = Parameters::default();
        for (index, argument) in self.0.values().enumerate() {
            let room = parameters.map(|parameters| parameters[index]);
            let bytes: SmallVec<[u8; 16]> = match argument {
                Argument::Bytes(bytes) => bytes.clone(),
                Argument::Buffer(buffer) => SmallVec::from_slice(&buffer.address().to_ne_bytes()),
                Argument::Local(bytes) => {
                    let align = bytes.next_power_of_two().min(WIDEST);
                    let begin = made.local.next_multiple_of(align);
                    made.local = begin.checked_add(*bytes).ok_or(Code::OUT_OF_RESOURCES)?;
                    // Addresses of such memory have four bytes, or eight.
                    let begin = begin.to_ne_bytes();
                    SmallVec::from_slice(&begin[..room.unwrap_or(begin.len()).min(begin.len())])
                }
            };
            if room.is_some_and(|room| room != bytes.len()) {
                return Err(Code::INVALID_KERNEL_ARGUMENT_SIZE);
            }
            made.arguments.push(bytes);
        }
        Ok(made)
    }

    /// What a function is called with: memory that addresses lead to, which is one group's.
    pub(super) fn lay_out(&self) -> Laid {
        let each = self.0.values().map(|argument| match argument {
            Argument::Bytes(bytes) => words(bytes),
            Argument::Buffer(buffer) => vec![buffer.address() as u64].into(),
            Argument::Local(bytes) => vec![0; bytes.div_ceil(size_of::<u64>())].into(),
        });
        let mut memory: Vec<Box<[u64]>> = each.collect();
        let addresses = memory
            .iter_mut()
            .map(|one| one.as_mut_ptr().expose_provenance());
        Laid {
            addresses: addresses.collect(),
            _memory: memory,
        }
    }
}

/// The widest that anything of a group's own is aligned to.
const WIDEST: usize = 128;

/// Arguments as an entry takes them.
#[derive(Default)]
pub(super) struct Parameters {
    pub(super) arguments: Vec<SmallVec<[u8; 16]>>,
    /// Bytes of a group's own.
    pub(super) local: usize,
}

/// Arguments in memory.
pub(super) struct Laid {
    pub(super) addresses: Vec<usize>,
    _memory: Vec<Box<[u64]>>,
}

/// Bytes at an address that every type may have.
fn words(bytes: &[u8]) -> Box<[u64]> {
    let word = |piece: &[u8]| {
        let mut word = [0; size_of::<u64>()];
        word[..piece.len()].copy_from_slice(piece);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(size_of::<u64>()).map(word).collect()
}

impl Argument {
    fn read(one: &KernelArgument, local_memory: usize) -> Answer<Self> {
        match one.kind {
            KernelArgumentKind::VALUE => Self::value(one.value.first, one.size),
            KernelArgumentKind::POINTER => Ok(Self::pointer(one.value.first)),
            KernelArgumentKind::MEM_OBJ => {
                Self::buffer(Handle::of_native(one.value.first.number()))
            }
            KernelArgumentKind::LOCAL => Self::local(one.size, local_memory),
            KernelArgumentKind::SAMPLER => Err(Code::UNSUPPORTED_FEATURE),
            _ => Err(Code::INVALID_ENUMERATION),
        }
    }

    fn value(from: Pointer, size: usize) -> Answer<Self> {
        from.required()?;
        if size == 0 || size > LARGEST {
            return Err(Code::INVALID_KERNEL_ARGUMENT_SIZE);
        }
        Ok(Self::Bytes(SmallVec::from_slice(from.bytes(size))))
    }

    fn pointer(to: Pointer) -> Self {
        Self::Bytes(SmallVec::from_slice(&to.number().to_ne_bytes()))
    }

    fn buffer(buffer: Handle<Buffer>) -> Answer<Self> {
        // No buffer is an address of none.
        Ok(match buffer.optional()? {
            Some(buffer) => Self::Buffer(buffer),
            None => Self::Bytes(SmallVec::from_slice(&0_usize.to_ne_bytes())),
        })
    }

    fn local(size: usize, most: usize) -> Answer<Self> {
        if size == 0 || size > most {
            return Err(Code::INVALID_KERNEL_ARGUMENT_SIZE);
        }
        Ok(Self::Local(size))
    }
}

entry! {
    fn urKernelSetArgValue(
        kernel: Handle<Kernel>,
        index: u32,
        size: usize,
        _properties: In<Header>,
        value: Pointer,
    ) {
        kernel.get()?.arguments().set(index, Argument::value(value, size)?)
    }

    fn urKernelSetArgLocal(
        kernel: Handle<Kernel>,
        index: u32,
        size: usize,
        _properties: In<Header>,
    ) {
        let kernel = kernel.get()?;
        let argument = Argument::local(size, kernel.local_memory())?;
        kernel.arguments().set(index, argument)
    }

    fn urKernelSetArgPointer(
        kernel: Handle<Kernel>,
        index: u32,
        _properties: In<Header>,
        value: Pointer,
    ) {
        kernel.get()?.arguments().set(index, Argument::pointer(value))
    }

    fn urKernelSetArgMemObj(
        kernel: Handle<Kernel>,
        index: u32,
        _properties: In<Header>,
        buffer: Handle<Buffer>,
    ) {
        kernel.get()?.arguments().set(index, Argument::buffer(buffer)?)
    }
}
