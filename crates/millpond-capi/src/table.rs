//! The table of functions that extensions of an interpreter get, which can't link to its library.
//!
//! It only grows, at its end: a program that was compiled with an older one runs with a newer.

#![allow(
    clippy::wildcard_imports,
    reason = "the functions are listed once, below"
)]

use crate::array::*;
use crate::describe::{Described, Function};
use crate::device::*;
use crate::event::*;
use crate::general::*;
use crate::memory::*;
use crate::pool::*;
use crate::queue::*;

macro_rules! table {
    ($($version:literal { $($name:ident),+ $(,)? })+) => {
        /// The newest version: the number of the table's last part.
        pub const VERSION: u32 = [$($version),+].len() as u32;

        /// The functions, in the order of their addition.
        #[repr(C)]
        #[allow(missing_docs, reason = "each is documented where it is defined")]
        #[derive(Debug)]
        pub struct Table {
            pub version: u32,
            pub bytes: u32,
            $($( pub $name: <$name as Described>::Pointer, )+)+
        }

        static TABLE: Table = Table {
            version: VERSION,
            bytes: size_of::<Table>() as u32,
            $($( $name: <$name as Described>::POINTER, )+)+
        };

        /// The functions with the versions that they came in.
        pub fn functions() -> Vec<(u32, Function)> {
            vec![$($(($version, <$name as Described>::function()),)+)+]
        }
    };
}

impl Table {
    /// The table.
    #[must_use]
    pub const fn get() -> &'static Self {
        &TABLE
    }
}

// Append only: a new version is a new part.
table! {
    1 {
        mp_version,
        mp_error_message,
        mp_error_set,
        mp_status_name,
        mp_handle_count,
        mp_shutdown,
        mp_device_count,
        mp_device_at,
        mp_device_named,
        mp_device_default,
        mp_device_retain,
        mp_device_release,
        mp_device_name,
        mp_device_same,
        mp_device_runs_on_host,
        mp_device_supports,
        mp_device_memory,
        mp_device_queue,
        mp_device_create_queue,
        mp_device_wait,
        mp_queue_retain,
        mp_queue_release,
        mp_queue_device,
        mp_queue_id,
        mp_queue_is_in_order,
        mp_queue_is_idle,
        mp_queue_wait,
        mp_queue_wait_for,
        mp_queue_close,
        mp_queue_record,
        mp_queue_barrier,
        mp_queue_follow,
        mp_queue_submit,
        mp_queue_gate,
        mp_queue_copy,
        mp_queue_fill,
        mp_event_retain,
        mp_event_release,
        mp_event_queue,
        mp_event_status,
        mp_event_wait,
        mp_event_wait_for,
        mp_event_on_complete,
        mp_event_times,
        mp_gate_create,
        mp_gate_retain,
        mp_gate_release,
        mp_gate_open,
        mp_gate_is_open,
        mp_memory_allocate,
        mp_memory_allocate_from,
        mp_memory_wrap,
        mp_memory_view,
        mp_memory_retain,
        mp_memory_release,
        mp_memory_free,
        mp_memory_pointer,
        mp_memory_size,
        mp_memory_kind,
        mp_memory_queue,
        mp_memory_is_managed,
        mp_memory_is_read_only,
        mp_memory_same,
        mp_memory_wait,
        mp_memory_share_with_host,
        mp_memory_read,
        mp_memory_write,
        mp_pool_create,
        mp_pool_current,
        mp_pool_retain,
        mp_pool_release,
        mp_pool_device,
        mp_pool_kind,
        mp_pool_statistics,
        mp_pool_trim,
        mp_pool_close,
        mp_array_allocate,
        mp_array_of_memory,
        mp_array_wrap,
        mp_array_retain,
        mp_array_release,
        mp_array_data,
        mp_array_dtype,
        mp_array_ndim,
        mp_array_size,
        mp_array_shape,
        mp_array_strides,
        mp_array_offset,
        mp_array_is_contiguous,
        mp_array_is_column_major,
        mp_array_is_read_only,
        mp_array_memory,
        mp_array_queue,
        mp_dtype_size,
        mp_dtype_name,
    }
    2 {
        mp_device_stream,
        mp_queue_follow_stream,
        mp_queue_hold_stream,
        mp_memory_follow_stream,
        mp_memory_hold_stream,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_its_functions_behind_two_numbers() {
        let table = Table::get();
        assert_eq!(table.version, VERSION);
        let functions = functions();
        assert_eq!(
            table.bytes as usize,
            8 + functions.len() * size_of::<usize>()
        );
        let versions: Vec<u32> = functions.iter().map(|(version, _)| *version).collect();
        assert!(versions.is_sorted(), "parts are appended");
        assert_eq!(versions.last(), Some(&VERSION));
    }
}
