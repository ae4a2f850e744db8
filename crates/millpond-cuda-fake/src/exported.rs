//! The list of the driver's functions as functions that are exported.

use std::sync::{Arc, OnceLock};

use crate::entries;
use crate::fake::Fake;

/// The driver, of two devices.
pub(crate) fn driver() -> &'static Fake {
    static DRIVER: OnceLock<Arc<Fake>> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let fake = Fake::strict(2);
        entries::add(&fake);
        fake
    })
}

/// Makes the trait that the fake has, and a function for each row that calls it.
macro_rules! functions {
    (
        $(#[$meta:meta])*
        $trait:ident, $table:ident -> $code:ident;
        $($method:ident = $symbol:literal ($($argument:ident: $type:ty),*);)*
    ) => {
        $(#[$meta])*
        pub(crate) trait $trait: Send + Sync {
            $(
                #[allow(clippy::too_many_arguments, reason = "as many as CUDA's function has")]
                unsafe fn $method(&self, $($argument: $type),*) -> $code;
            )*
        }

        $(
            #[allow(clippy::too_many_arguments, reason = "as many as CUDA's function has")]
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn $method($($argument: $type),*) -> $code {
                // SAFETY: what CUDA asks of the arguments, which the caller answers for.
                unsafe { crate::exported::driver().$method($($argument),*) }
            }
        )*
    };
}
pub(crate) use functions;
