"""Data-parallel runtime and array library for CPUs and GPUs."""
