"""NumPy's functions and methods for arrays of `millpond.tensor`, computed by the functions of the same meaning there.

NumPy asks for its functions by `__array_ufunc__` and `__array_function__`. What is imported before it asks does not
need NumPy.
"""
