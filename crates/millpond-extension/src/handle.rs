//! Counted handles, and their conversions from and to objects of Python.

/// Types that hold a handle: each retains it when it is cloned and releases it when it is dropped.
macro_rules! handles {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($raw:ident): $retain:ident, $release:ident, $from:ident, $to:ident;
    )+) => { $(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub struct $name(std::ptr::NonNull<$crate::raw::$raw>);

        // SAFETY: handles may be used and released by any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// The handle that a call gives.
            #[allow(dead_code, reason = "not every handle is given by a call")]
            pub(crate) fn given(
                call: impl FnOnce(*mut *mut $crate::raw::$raw) -> $crate::raw::mp_status,
            ) -> $crate::error::Result<Self> {
                let mut handle = std::ptr::null_mut();
                $crate::error::check(call(&raw mut handle))?;
                Ok(Self(std::ptr::NonNull::new(handle).expect("calls that succeed give a handle")))
            }

            /// The handle, for functions of [`crate::raw`]; it stays this one's.
            #[must_use]
            pub const fn as_ptr(&self) -> *mut $crate::raw::$raw {
                self.0.as_ptr()
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                // SAFETY: the handle is counted for this one.
                unsafe { ($crate::import::table().$retain)(self.as_ptr()) };
                Self(self.0)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is counted for this one, which goes.
                unsafe { ($crate::import::table().$release)(self.as_ptr()) };
            }
        }

        impl<'py> pyo3::FromPyObject<'_, 'py> for $name {
            type Error = pyo3::PyErr;

            fn extract(object: pyo3::Borrowed<'_, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                let py = object.py();
                let functions = $crate::import::python(py)?;
                // SAFETY: the interpreter is attached, and the object is there.
                let handle = unsafe { (functions.$from)(object.as_ptr()) };
                std::ptr::NonNull::new(handle).map(Self).ok_or_else(|| pyo3::PyErr::fetch(py))
            }
        }

        impl<'py> pyo3::IntoPyObject<'py> for $name {
            type Target = pyo3::PyAny;
            type Output = pyo3::Bound<'py, pyo3::PyAny>;
            type Error = pyo3::PyErr;

            fn into_pyobject(self, py: pyo3::Python<'py>) -> pyo3::PyResult<Self::Output> {
                let functions = $crate::import::python(py)?;
                // SAFETY: the interpreter is attached, and the handle is counted for this one.
                let object = unsafe { (functions.$to)(self.as_ptr()) };
                // SAFETY: it is null with an exception set, or a new reference.
                unsafe { pyo3::Bound::from_owned_ptr_or_err(py, object) }
            }
        }
    )+ };
}

/// What a call says of a handle by its last argument.
macro_rules! told {
    ($handle:expr, $function:ident, $initial:expr) => {{
        let mut value = $initial;
        $crate::error::check(
            // SAFETY: the handle is counted for its owner, and the result's place may be written.
            unsafe { ($crate::import::table().$function)($handle.as_ptr(), &raw mut value) },
        )
        .map(|()| value)
    }};
}

pub(crate) use {handles, told};
