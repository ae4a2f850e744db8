//! Python extension of millpond.
