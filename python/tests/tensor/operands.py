"""Drawn operands: arrays of NumPy, and the same elements of ours wherever they may lie in memory."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import millpond.tensor as xp

from .reference import numbers

#: Sizes of axes: none and one more often than they would be.
SIZES = st.sampled_from([0, 1, 1, 2, 3, 4])
#: The same, of arrays that must have elements.
FILLED = st.sampled_from([1, 1, 2, 3, 4])
MOST_AXES = 5
COMPLEX_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5]


@dataclass(frozen=True)
class Operand:
    """The same array twice."""

    theirs: np.ndarray
    ours: xp.Array

    def __repr__(self):
        """Show what a failed test needs."""
        return f"Operand({self.theirs!r}, strides={self.ours.strides})"


class DTypeName(str):
    """A dtype by its name, which each side has an object for."""


def shapes(least=0, most=MOST_AXES, sizes=SIZES):
    return st.lists(sizes, min_size=least, max_size=most).map(tuple)


def values(dtype, shape, seed, special=True):
    """Numbers of a dtype; without special ones finite and, for integers, small."""
    if special:
        found = numbers(dtype, shape, seed)
        if found.dtype.kind == "c" and found.size:
            random = np.random.default_rng(seed)
            for part in (found.real, found.imag):
                chosen = random.random(shape) < 0.2
                part[chosen] = random.choice(COMPLEX_SPECIAL, int(chosen.sum()))
        return found
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    found = random.normal(0, 2, shape)
    return (found + 1j * random.normal(0, 2, shape) if dtype.kind == "c" else found).astype(dtype)


def _slice(size, step, begin):
    """Elements that many steps apart, the lowest one behind so many others."""
    if step > 0 or size == 0:
        return slice(begin, begin + size * abs(step), abs(step))
    last = begin + (size - 1) * -step
    return slice(last, begin - 1 if begin else None, step)


@st.composite
def laid_out(draw, theirs, different=0):
    """Draw memory for an array: steps, also backwards, an order of axes, repeated axes, a begin within the memory.

    So many of the last axes are not repeated.
    """
    shape = theirs.shape
    how = draw(st.sampled_from(["alone", "behind others", "anyhow", "anyhow"]))
    if how == "alone":
        return Operand(theirs, xp.asarray(theirs, copy=True))
    if how == "behind others":
        both = np.stack([values(theirs.dtype, shape, seed=9), theirs])
        return Operand(theirs, xp.asarray(both, copy=True)[1, ...])
    repeats = theirs.ndim - different
    repeated = [axis < repeats and size > 1 and draw(st.integers(0, 5)) == 0 for axis, size in enumerate(shape)]
    kept = theirs[tuple(slice(0, 1) if once else slice(None) for once in repeated)]
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    begins = [draw(st.sampled_from([0, 0, 1, 3])) for _ in shape]
    pieces = tuple(map(_slice, kept.shape, steps, begins))
    sizes = [begin + size * abs(step) for size, step, begin in zip(kept.shape, steps, begins, strict=True)]
    # What lies between the elements is not zero, lest it look like them.
    whole = values(theirs.dtype, (2, *sizes), seed=9)
    whole[(1, *pieces)] = kept
    order = draw(st.permutations(range(whole.ndim)))
    memory = xp.asarray(np.ascontiguousarray(whole.transpose(order)), copy=True)
    ours = xp.permute_dims(memory, tuple(map(int, np.argsort(order))))[(1, *pieces)]
    return Operand(np.broadcast_to(kept, shape).copy(), xp.broadcast_to(ours, shape))


@st.composite
def operands(draw, dtypes, shape=None, special=True):
    """Draw an operand of one of the dtypes."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes()) if shape is None else shape
    seed = draw(st.integers(0, 2**16))
    return draw(laid_out(values(dtype, shape, seed, special)))


@st.composite
def broadcastable(draw, count, most=MOST_AXES):
    """Draw shapes that broadcast together."""
    whole = draw(shapes(most=most))
    found = []
    for _ in range(count):
        own = tuple(1 if draw(st.integers(0, 4)) == 0 else size for size in whole)
        found.append(own[draw(st.integers(0, len(own))) :] if draw(st.integers(0, 3)) == 0 else own)
    return found


def given_to(side, argument):
    """Replace the operands and dtypes within an argument by what one of the sides makes of them."""
    if isinstance(argument, (Operand, DTypeName)):
        return side(argument)
    if isinstance(argument, (tuple, list)):
        return type(argument)(given_to(side, part) for part in argument)
    if isinstance(argument, dict):
        return {name: given_to(side, part) for name, part in argument.items()}
    return argument
