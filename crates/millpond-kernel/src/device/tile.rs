//! Element-wise kernels over arrays that run along different axes: a block goes tile by tile, and turns
//! what it reads along the other axis in shared memory, so that all accesses are to neighbours.

use std::fmt::Write;

use millpond_types::DType;

use crate::device::class::{Class, Run};
use crate::device::elements::{Elements, Step};
use crate::device::map::THREADS;
use crate::device::text::type_name;

/// Elements of either side of a tile.
pub(super) const TILE: usize = 32;

/// Rows that a block takes at a time, and how often it does for a tile.
const STEP: usize = THREADS / TILE;
const STEPS: usize = TILE / STEP;

/// The axis that some array runs along that is only read, though it doesn't run along the innermost:
/// it is read by tiles then, which are turned in shared memory.
pub(super) fn turned_axis(elements: &Elements, runs: &[Run]) -> Option<usize> {
    let (inner, outer) = elements.axes.split_last()?;
    let is_written = |number: usize| elements.stores.iter().any(|&(_, to)| to == number);
    let runs_along = |axis: usize| {
        let arrays = elements.arrays.iter().enumerate().zip(runs);
        arrays.into_iter().any(|((number, array), run)| {
            *run == Run::Strided
                && !is_written(number)
                && array.strides[axis] == array.dtype.size() as isize
        })
    };
    let is_long = |size: usize| size >= TILE / 2;
    let mut axes = outer.iter().enumerate();
    let found = axes.find(|&(axis, &size)| is_long(size) && runs_along(axis));
    found.map(|(axis, _)| axis).filter(|_| is_long(*inner))
}

impl Elements {
    /// Appends the entry that goes tile by tile over the turned and the innermost axis.
    pub(super) fn write_tiled(&self, text: &mut String, class: &Class, turned: usize) {
        let inner = class.axes - 1;
        let arrays: Vec<_> = (0..self.arrays.len())
            .filter(|&array| class.is_turned(self, array))
            .collect();
        text.push_str("MP_ENTRY(tiled)(const Arguments a) {\n");
        for &array in &arrays {
            let name = type_name(self.arrays[array].dtype);
            let _ = writeln!(
                text,
                "    __shared__ mp::pack<{name}, 1> tile{array}[{TILE}][{TILE} + 1];"
            );
        }
        let _ = write!(
            text,
            "    const Index column = threadIdx.x % {TILE}, row = threadIdx.x / {TILE};
    const Index across = (Index(a.x_axis{inner}.size) + {rest}) / {TILE};
    const Index down = (Index(a.turned) + {rest}) / {TILE};
    const Index tiles = Index(a.count) / (Index(a.x_axis{inner}.size) * Index(a.turned)) * across * down;
    for (Index tile = blockIdx.x; tile < tiles; tile += gridDim.x) {{
        const Index line = tile / across, block = line / down;
        const Index left = (tile - line * across) * {TILE}, top = (line - block * down) * {TILE};
        At at;
        at.number = 0;
",
            rest = TILE - 1
        );
        // The other axes share the number of the block.
        let mut rest = "block".to_owned();
        let others: Vec<_> = (0..inner).filter(|&axis| axis != turned).collect();
        for (place, axis) in others.iter().enumerate().rev() {
            if place == 0 {
                let _ = writeln!(text, "        at.x{axis} = {rest};");
            } else {
                let size = format!("Index(a.x_axis{axis}.size)");
                let _ = writeln!(
                    text,
                    "        const Index b{axis} = {rest} / {size};\n        at.x{axis} = {rest} - b{axis} * {size};"
                );
                rest = format!("b{axis}");
            }
        }
        self.write_turned_loads(text, class, turned, &arrays);
        self.write_turned_results(text, class, turned, &arrays);
    }

    /// Appends how a tile of each turned array is loaded.
    fn write_turned_loads(
        &self,
        text: &mut String,
        class: &Class,
        turned: usize,
        arrays: &[usize],
    ) {
        let inner = class.axes - 1;
        let bounds = bounds(turned, inner);
        // All loads are under way before the first is waited for.
        for &array in arrays {
            let name = type_name(self.arrays[array].dtype);
            let place = self.place(class, array);
            let _ = write!(
                text,
                "        mp::pack<{name}, 1> line{array}[{STEPS}];
        at.x{turned} = top + column;
#pragma unroll
        for (int i = 0; i < {STEPS}; i++) {{
            at.x{inner} = left + row + i * {STEP};
            if ({bounds}) line{array}[i].load({place});
        }}
"
            );
        }
        let _ = write!(
            text,
            "#pragma unroll\n        for (int i = 0; i < {STEPS}; i++) {{\n"
        );
        for &array in arrays {
            let _ = writeln!(
                text,
                "            tile{array}[row + i * {STEP}][column] = line{array}[i];"
            );
        }
    }

    /// Appends how results are made of a tile.
    fn write_turned_results(
        &self,
        text: &mut String,
        class: &Class,
        turned: usize,
        arrays: &[usize],
    ) {
        let inner = class.axes - 1;
        let bounds = bounds(turned, inner);
        let _ = write!(
            text,
            "        }}
        __syncthreads();
        at.x{inner} = left + column;
#pragma unroll
        for (int i = 0; i < {STEPS}; i++) {{
            at.x{turned} = top + row + i * {STEP};
            if ({bounds}) {{
                Loaded<1> loaded;
"
        );
        for array in 0..self.arrays.len() {
            let reads =
                |(step, _): &(Step, DType)| matches!(step, Step::Load(from) if *from == array);
            if arrays.contains(&array) {
                let _ = writeln!(
                    text,
                    "                loaded.array{array} = tile{array}[column][row + i * {STEP}];"
                );
            } else if self.steps.iter().any(reads) {
                let place = self.place(class, array);
                let _ = writeln!(text, "                loaded.array{array}.load({place});");
            }
        }
        text.push_str(
            "                finish_elements(a, at, loaded);
            }
        }
        __syncthreads();
    }
}

",
        );
    }
}

/// Whether an element of a tile, at places along the turned and the innermost axis, is there.
fn bounds(turned: usize, inner: usize) -> String {
    format!("at.x{turned} < Index(a.turned) && at.x{inner} < Index(a.x_axis{inner}.size)")
}
