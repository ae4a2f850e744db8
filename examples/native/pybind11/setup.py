"""Builds the extensions against the millpond that is installed: `python setup.py build_ext --inplace`."""

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
from setuptools import setup

import millpond

ParallelCompile().install()

setup(
    name="millpond-pybind11-examples",
    ext_modules=[
        Pybind11Extension(name, [f"{name}.cpp"], include_dirs=[millpond.get_include()], cxx_std=17)
        for name in ("kernel", "external", "solver")
    ],
)
