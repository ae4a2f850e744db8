//! Functions that C calls.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::argument::Answer;
use crate::error;
use crate::numbers::Code;

/// A function of the interface: its arguments are those of the specification, its body answers
/// `Ok` or a code, and no panic leaves it.
macro_rules! entry {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        #[allow(
            non_snake_case,
            clippy::too_many_arguments,
            reason = "the specification's name and arguments"
        )]
        pub(crate) extern "C" fn $name($($argument: $kind),*) -> $crate::numbers::Code {
            $crate::entry::guarded(move || -> $crate::argument::Answer { $body })
        }
    )*};
}
pub(crate) use entry;

/// The code that a body comes to. A panic is this library's fault, and becomes an error that says so.
pub(crate) fn guarded(body: impl FnOnce() -> Answer) -> Code {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::SUCCESS,
        Ok(Err(code)) => code,
        Err(panic) => error::tell(&format!("internal error: {}", words(&*panic))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without words")
}

#[cfg(test)]
mod tests {
    use super::guarded;
    use crate::numbers::Code;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| panic!("no luck")), Code::ADAPTER_SPECIFIC);
        assert_eq!(
            crate::error::last().0.to_str(),
            Ok("internal error: no luck")
        );
        assert_eq!(guarded(|| Err(Code::INVALID_SIZE)), Code::INVALID_SIZE);
    }
}
