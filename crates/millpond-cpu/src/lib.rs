//! Host backend of millpond: executor, threads, memory.
