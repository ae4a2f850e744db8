//! Arrays: elements of one dtype, laid out in memory that views share.

use std::ffi::{CString, c_char, c_void};
use std::sync::LazyLock;

use millpond::tensor::{Error as TensorError, Place, Tensor, creation};
use millpond::types::Layout;
use millpond::{DType, MemoryKind, Queue};

use crate::data::{In, List, Out};
use crate::describe::functions;
use crate::handle::{Give, Keep, Object, Take};
use crate::memory::{Memory, adopt};
use crate::number::Number;
use crate::status::{Problem, Result};
use crate::task::Owner;

impl Object for Tensor {
    const NAME: &'static str = "mp_array";
}

/// The layout of a shape, by strides or without gaps where there are none.
fn layout(dtype: DType, ndim: usize, shape: &List<usize>, strides: &List<isize>) -> Result<Layout> {
    let shape = shape.get(ndim)?;
    let layout = if strides.is_null() {
        Layout::contiguous(shape, dtype.size())
    } else {
        Layout::new(shape, strides.get(ndim)?, 0)
    };
    Ok(layout.map_err(TensorError::from)?)
}

functions! {
    /// Makes an array in row-major order. Its elements are not initialised.
    fn mp_array_allocate(
        queue: Keep<Queue>,
        kind: Number<MemoryKind>,
        dtype: Number<DType>,
        ndim: usize,
        shape: List<usize>,
        array: Give<Tensor>,
    ) {
        let out = array.ready()?;
        let place = Place { queue: queue.get()?.clone(), kind: kind.get()? };
        out.give(creation::empty(shape.get(ndim)?, dtype.get()?, &place)?);
        Ok(())
    }

    /// Makes an array of elements that lie in memory, whose offset and strides are counted in elements; strides may be
    /// null for row-major order. It holds the memory.
    fn mp_array_of_memory(
        memory: Keep<Memory>,
        dtype: Number<DType>,
        ndim: usize,
        shape: List<usize>,
        strides: List<isize>,
        offset: usize,
        array: Give<Tensor>,
    ) {
        let place = array.ready()?;
        let (memory, dtype) = (memory.get()?, dtype.get()?);
        let size = dtype.size();
        if memory.offset % size != 0 {
            return Err(Problem::Argument {
                what: "mp_array_of_memory",
                reason: format!(
                    "the memory begins at byte {} of its allocation, between elements of {size} bytes",
                    memory.offset
                ),
            });
        }
        let begin = (memory.offset / size).saturating_add(offset);
        let layout = layout(dtype, ndim, &shape, &strides)?.at_offset(begin);
        let allocation = memory.allocation.clone();
        let tensor = Tensor::from_parts(allocation, dtype, layout, memory.read_only)?;
        memory.check_within(&tensor)?;
        place.give(tensor);
        Ok(())
    }

    /// Makes an array of initialised elements of the program's own, which it hands over with their owner as to
    /// mp_memory_wrap. pointer is to the element of index zero of row-major order.
    fn mp_array_wrap(
        queue: Keep<Queue>,
        kind: Number<MemoryKind>,
        pointer: *mut c_void,
        dtype: Number<DType>,
        ndim: usize,
        shape: List<usize>,
        owner: In<Owner>,
        array: Give<Tensor>,
    ) {
        let release = owner.get()?.take();
        let place = array.ready()?;
        let dtype = dtype.get()?;
        let layout = Layout::contiguous(shape.get(ndim)?, dtype.size()).map_err(TensorError::from)?;
        let bytes = layout.size() * dtype.size();
        let memory = adopt(queue.get()?, kind.get()?, pointer, bytes, release)?;
        place.give(Tensor::from_parts(memory, dtype, layout, false)?);
        Ok(())
    }

    /// Adds a count to a handle.
    fn mp_array_retain(array: Keep<Tensor>) -> () {
        array.retain();
    }

    /// Lets go of a count of a handle, also while work is pending.
    fn mp_array_release(array: Take<Tensor>) -> () {
        drop(array.take());
    }

    /// The address of the element of index zero on each axis: the offset is in it. It is valid for tasks that name the
    /// array, and for the host behind a wait.
    fn mp_array_data(array: Keep<Tensor>, data: Out<*mut c_void>) {
        data.put(array.get()?.address().as_ptr())
    }

    /// The dtype.
    fn mp_array_dtype(array: Keep<Tensor>, dtype: Out<Number<DType>>) {
        dtype.put(Number::of(array.get()?.dtype()))
    }

    /// The number of axes.
    fn mp_array_ndim(array: Keep<Tensor>, ndim: Out<usize>) {
        ndim.put(array.get()?.ndim())
    }

    /// The number of elements.
    fn mp_array_size(array: Keep<Tensor>, size: Out<usize>) {
        size.put(array.get()?.size())
    }

    /// The sizes of the axes, which stay as long as the handle.
    fn mp_array_shape(array: Keep<Tensor>, shape: Out<*const usize>) {
        shape.put(array.get()?.shape().as_ptr())
    }

    /// The steps of the axes in elements, always there, which stay as long as the handle.
    fn mp_array_strides(array: Keep<Tensor>, strides: Out<*const isize>) {
        strides.put(array.get()?.strides().as_ptr())
    }

    /// Where the element of index zero lies in the array's memory, in elements.
    fn mp_array_offset(array: Keep<Tensor>, offset: Out<usize>) {
        offset.put(array.get()?.layout().offset())
    }

    /// Whether elements follow one another in row-major order.
    fn mp_array_is_contiguous(array: Keep<Tensor>, answer: Out<bool>) {
        answer.put(array.get()?.is_contiguous())
    }

    /// Whether elements follow one another in column-major order.
    fn mp_array_is_column_major(array: Keep<Tensor>, answer: Out<bool>) {
        answer.put(array.get()?.layout().is_column_major())
    }

    /// Whether the elements must not be written.
    fn mp_array_is_read_only(array: Keep<Tensor>, answer: Out<bool>) {
        answer.put(array.get()?.is_read_only())
    }

    /// All of the memory that the elements lie in.
    fn mp_array_memory(array: Keep<Tensor>, memory: Give<Memory>) {
        let place = memory.ready()?;
        let array = array.get()?;
        place.give(Memory::whole(array.memory().clone(), array.is_read_only()));
        Ok(())
    }

    /// The queue that work on it goes to.
    fn mp_array_queue(array: Keep<Tensor>, queue: Give<Queue>) {
        let place = queue.ready()?;
        place.give(array.get()?.queue());
        Ok(())
    }

    /// The bytes of an element.
    fn mp_dtype_size(dtype: Number<DType>, bytes: Out<usize>) {
        bytes.put(dtype.get()?.size())
    }

    /// The name of a dtype, such as "float32".
    fn mp_dtype_name(dtype: Number<DType>, name: Out<*const c_char>) {
        name.put(dtype_name(dtype.get()?))
    }
}

/// The name as C reads it.
fn dtype_name(dtype: DType) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
        let names = DType::ALL.iter().map(|dtype| dtype.name());
        names
            .map(|name| CString::new(name).unwrap_or_default())
            .collect()
    });
    NAMES[dtype as usize].as_ptr()
}
