//! The compiler that a library is.

use std::ffi::{CString, c_char};

use super::table::{Code, Nvrtc, ProgramHandle};
use super::{CompileError, Compiler, Image};

/// How everything is compiled: results are those of the host, whose operations round one by one.
const OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

/// NVRTC, loaded.
pub(super) struct LoadedCompiler {
    library: Box<dyn Nvrtc>,
    identity: String,
    /// What it compiles for, ascending.
    architectures: Vec<i32>,
}

/// A program that is destroyed with this.
struct Program<'a> {
    library: &'a dyn Nvrtc,
    handle: ProgramHandle,
}

/// A function that tells how long a text or image is, and one that writes it.
type Asking<'a> = (
    &'a dyn Fn(*mut usize) -> Code,
    &'a dyn Fn(*mut c_char) -> Code,
);

impl LoadedCompiler {
    /// A compiler by its functions.
    pub(super) fn new(library: Box<dyn Nvrtc>, (major, minor): (i32, i32)) -> Result<Self, String> {
        let mut count = 0;
        // SAFETY: the number is written to a place of its type.
        let code = unsafe { library.architecture_count(&raw mut count) };
        check("nvrtcGetNumSupportedArchs", code)?;
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: as many numbers are written as were told.
        let code = unsafe { library.architectures(architectures.as_mut_ptr()) };
        check("nvrtcGetSupportedArchs", code)?;
        architectures.sort_unstable();
        Ok(Self {
            library,
            identity: format!("NVRTC {major}.{minor} {}", OPTIONS.join(" ")),
            architectures,
        })
    }

    /// What to compile for so that a device of an architecture can run it, and whether that is the
    /// device's own code: a device that is newer than the compiler translates assembly itself.
    fn target(&self, architecture: i32) -> Result<(String, bool), CompileError> {
        if self.architectures.contains(&architecture) {
            return Ok((format!("--gpu-architecture=sm_{architecture}"), true));
        }
        let older = self
            .architectures
            .iter()
            .rev()
            .find(|&&it| it < architecture);
        let older = older.ok_or_else(|| {
            let reason = format!(
                "{} compiles for none of architecture {architecture}",
                self.identity
            );
            CompileError(reason)
        })?;
        Ok((format!("--gpu-architecture=compute_{older}"), false))
    }
}

impl Compiler for LoadedCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn compile(&self, source: &str, architecture: i32) -> Result<Image, CompileError> {
        let (target, own) = self.target(architecture)?;
        let program = Program::new(&*self.library, source)?;
        let options: Vec<CString> = OPTIONS
            .iter()
            .copied()
            .chain([target.as_str()])
            .map(|option| CString::new(option).unwrap_or_default())
            .collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let library = program.library;
        // SAFETY: as many options as are told, which live until the call returns.
        let code =
            unsafe { library.compile(program.handle, pointers.len() as i32, pointers.as_ptr()) };
        if code == Code::COMPILATION {
            return Err(CompileError(program.log()));
        }
        check("nvrtcCompileProgram", code).map_err(CompileError)?;
        let image = if own {
            Program::ask((
                // SAFETY: the length is written to a place of its type.
                &|bytes| unsafe { library.binary_size(program.handle, bytes) },
                // SAFETY: `ask` gives as many bytes as were told.
                &|image| unsafe { library.binary(program.handle, image) },
            ))
        } else {
            Program::ask((
                // SAFETY: as above.
                &|bytes| unsafe { library.assembly_size(program.handle, bytes) },
                // SAFETY: as above.
                &|image| unsafe { library.assembly(program.handle, image) },
            ))
        };
        image.map_err(CompileError)
    }
}

impl<'a> Program<'a> {
    fn new(library: &'a dyn Nvrtc, source: &str) -> Result<Self, CompileError> {
        let source = CString::new(source)
            .map_err(|_| CompileError("the source holds a zero byte".to_owned()))?;
        let mut handle = ProgramHandle(0);
        let none = std::ptr::null();
        // SAFETY: the handle is written to a place of its type, the texts end with a zero, and there
        // are no headers.
        let code = unsafe {
            library.create(
                &raw mut handle,
                source.as_ptr(),
                c"millpond.cu".as_ptr(),
                0,
                none,
                none,
            )
        };
        check("nvrtcCreateProgram", code).map_err(CompileError)?;
        Ok(Self { library, handle })
    }

    /// What the compiler says of the source.
    fn log(&self) -> String {
        let log = Self::ask((
            // SAFETY: the length is written to a place of its type.
            &|bytes| unsafe { self.library.log_size(self.handle, bytes) },
            // SAFETY: `ask` gives as many bytes as were told.
            &|log| unsafe { self.library.log(self.handle, log) },
        ));
        let text = log.map(|log| String::from_utf8_lossy(&log).into_owned());
        let text = text.unwrap_or_else(|error| error);
        text.trim_end_matches('\0').trim().to_owned()
    }

    /// What two functions answer, with a zero behind it.
    fn ask((size, write): Asking<'_>) -> Result<Vec<u8>, String> {
        let mut bytes = 0;
        check("the length of an answer", size(&raw mut bytes))?;
        let mut answer = vec![0_u8; bytes + 1];
        check("an answer", write(answer.as_mut_ptr().cast()))?;
        Ok(answer)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is this value's, and nobody has it any more.
        let _ = unsafe { self.library.destroy(&raw mut self.handle) };
    }
}

/// What an answer other than success means.
pub(super) fn check(call: &str, code: Code) -> Result<(), String> {
    match code {
        Code::SUCCESS => Ok(()),
        Code::MISSING => Err(format!("{call}: the compiler has no such function")),
        Code(number) => Err(format!("{call}: NVRTC error {number}")),
    }
}
