"""Builds the extension against the millpond that is installed: `python setup.py build_ext --inplace`."""

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

import millpond

setup(
    name="millpond-pybind11-example",
    ext_modules=[
        Pybind11Extension("extension", ["extension.cpp"], include_dirs=[millpond.get_include()], cxx_std=17),
    ],
)
