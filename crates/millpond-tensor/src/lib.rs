//! Arrays of millpond: the Array API over the runtime and the kernels.
