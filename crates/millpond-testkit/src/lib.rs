//! Contract suites, generators and comparisons for the tests of millpond.
