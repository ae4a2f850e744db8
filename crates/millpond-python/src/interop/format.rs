//! Formats of elements, as Python's `struct` and NumPy write them.

use std::ffi::{CStr, c_long};

use millpond::types::{DType, Kind};

/// The format of a dtype's elements; `bfloat16` has none.
pub(super) fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::Bool => c"?",
        DType::Int8 => c"b",
        DType::Int16 => c"h",
        DType::Int32 => c"i",
        DType::Uint8 => c"B",
        DType::Uint16 => c"H",
        DType::Uint32 => c"I",
        // The character that NumPy prefers, where it has 8 bytes.
        DType::Int64 if size_of::<c_long>() == 8 => c"l",
        DType::Int64 => c"q",
        DType::Uint64 if size_of::<c_long>() == 8 => c"L",
        DType::Uint64 => c"Q",
        DType::Float16 => c"e",
        DType::Float32 => c"f",
        DType::Float64 => c"d",
        DType::Complex64 => c"Zf",
        DType::Complex128 => c"Zd",
        DType::Bfloat16 => return None,
    })
}

/// The dtype of elements of a format, in the byte order of this machine.
pub(super) fn dtype_of(format: &CStr, item_size: usize) -> Option<DType> {
    let foreign_order = if cfg!(target_endian = "little") {
        [b'>', b'!']
    } else {
        [b'<', b'<']
    };
    let format = match format.to_bytes() {
        [order, ..] if item_size > 1 && foreign_order.contains(order) => return None,
        [b'@' | b'=' | b'<' | b'>' | b'!', rest @ ..] => rest,
        format => format,
    };
    let kind = match format {
        b"?" => Kind::Bool,
        b"b" | b"h" | b"i" | b"l" | b"q" | b"n" => Kind::Int,
        b"B" | b"H" | b"I" | b"L" | b"Q" | b"N" => Kind::Uint,
        b"e" | b"f" | b"d" => Kind::Float,
        b"Zf" | b"Zd" | b"F" | b"D" => Kind::Complex,
        _ => return None,
    };
    DType::ALL.iter().copied().find(|&dtype| {
        dtype.kind() == kind && dtype.size() == item_size && dtype != DType::Bfloat16
    })
}

/// Whether elements of a format, be it that of a record, have references to objects in them.
pub(super) fn holds_objects(format: &CStr) -> bool {
    // Names of fields stand between colons.
    let codes = format.to_bytes().split(|&byte| byte == b':').step_by(2);
    codes.flatten().any(|&code| code == b'O')
}
