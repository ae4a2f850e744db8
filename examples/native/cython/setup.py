"""Builds the extension against the millpond that is installed: `python setup.py build_ext --inplace`."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import millpond

setup(
    name="pricing",
    ext_modules=cythonize(Extension("pricing", ["pricing.pyx"], include_dirs=[millpond.get_include()])),
)
