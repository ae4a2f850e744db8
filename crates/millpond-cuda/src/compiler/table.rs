//! The one list of the compiler's functions.

use std::ffi::c_char;

use crate::table::functions;

/// A program that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ProgramHandle(pub(crate) usize);

/// What a call of the compiler answers; a number, as for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    pub(crate) const SUCCESS: Self = Self(0);
    /// The source has errors.
    pub(crate) const COMPILATION: Self = Self(6);
    /// Not a code of the compiler's: it doesn't have the function.
    pub(crate) const MISSING: Self = Self(-1);
}

functions! {
    /// The compiler's functions.
    Nvrtc, Table -> Code;

    version = "nvrtcVersion" (major: *mut i32, minor: *mut i32);
    architecture_count = "nvrtcGetNumSupportedArchs" (count: *mut i32);
    architectures = "nvrtcGetSupportedArchs" (architectures: *mut i32);
    create = "nvrtcCreateProgram"
        (program: *mut ProgramHandle, source: *const c_char, name: *const c_char, headers: i32,
         contents: *const *const c_char, names: *const *const c_char);
    destroy = "nvrtcDestroyProgram" (program: *mut ProgramHandle);
    compile = "nvrtcCompileProgram"
        (program: ProgramHandle, count: i32, options: *const *const c_char);
    log_size = "nvrtcGetProgramLogSize" (program: ProgramHandle, bytes: *mut usize);
    log = "nvrtcGetProgramLog" (program: ProgramHandle, log: *mut c_char);
    binary_size = "nvrtcGetCUBINSize" (program: ProgramHandle, bytes: *mut usize);
    binary = "nvrtcGetCUBIN" (program: ProgramHandle, image: *mut c_char);
    assembly_size = "nvrtcGetPTXSize" (program: ProgramHandle, bytes: *mut usize);
    assembly = "nvrtcGetPTX" (program: ProgramHandle, image: *mut c_char);
}
