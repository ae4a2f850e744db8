"""Programs of users who found an array library slower than NumPy, each written for any Array API namespace.

They came to the issues of `dpnp`, which is built on `dpctl`: the game of life, pairs of points within distances, a
principal component analysis, norms of rows, distances between all rows, the Mandelbrot set, a root of each element,
sums of rows, and a Monte-Carlo sum in small batches. Each is what a program of NumPy looks like: loops of whole-array
operations, masks, small steps with a number read after each. What each stresses is said beside it.
"""

import numpy as np

from .case import NP, Run, case

GROUP = "users"


@case(GROUP, "game of life, 10 generations", [(1024, 1024)], ("i4",))
def _(b):
    """Eight shifted views of one grid are added, and the inner cells of the next are set."""
    xp, set_ = b.xp, b.xp.set_
    start = b.put(np.random.default_rng(5).integers(0, 2, b.size, dtype=NP[b.dt]))
    inner = (slice(1, -1), slice(1, -1))
    shifts = [(down, right) for down in range(3) for right in range(3) if (down, right) != (1, 1)]

    def next_of(cells):
        rows, columns = cells.shape
        around = None
        for down, right in shifts:
            part = cells[down : rows - 2 + down, right : columns - 2 + right]
            around = part if around is None else around + part
        lives = (around == 3) | ((cells[inner] == 1) & (around == 2))
        return set_(xp.zeros_like(cells), inner, xp.astype(lives, cells.dtype))

    def fn():
        cells = start
        for _ in range(10):
            cells = next_of(cells)
        return cells

    return Run(fn, items=10 * b.size[0] * b.size[1])


@case(GROUP, "pairs within 20 distances", [2048], ("f8",))
def _(b):
    """Differences of all pairs, and a sum of the weights that each of many masks selects."""
    xp, n = b.xp, b.size
    places = [b.rand((n, 3), 0, 100, seed=seed) for seed in (1, 2)]
    weights = [b.rand(n, seed=seed) for seed in (3, 4)]
    limits = [float(limit) ** 2 for limit in np.linspace(0.1, 50, 20)]

    def fn():
        apart = 0
        for axis in range(3):
            apart = apart + (places[0][:, None, axis] - places[1][None, :, axis]) ** 2
        both = weights[0][:, None] * weights[1][None, :]
        zero = xp.zeros_like(both)
        return xp.stack([xp.sum(xp.where(apart <= limit, both, zero)) for limit in limits])

    return Run(fn, items=n * n)


@case(GROUP, "principal components", [(200_000, 32)], ("f8",))
def _(b):
    """A tall matrix that is centred and multiplied by itself, a small eigenproblem, another product."""
    xp, (rows, _) = b.xp, b.size
    points = b.rand(b.size)

    def fn():
        centred = points - xp.mean(points, axis=0, keepdims=True)
        covariance = xp.matmul(centred.T, centred) / (rows - 1)
        values, vectors = xp.linalg.eigh(covariance)
        # Signs of vectors are open: results are compared by the values.
        return xp.matmul(centred, xp.flip(vectors, axis=1)), xp.flip(values)

    return Run(fn, items=rows)


@case(GROUP, "norms of rows", [(4_000_000, 3)], ("f8",))
def _(b):
    """A reduction over very few elements each."""
    xp, points = b.xp, b.rand(b.size)
    return Run(lambda: xp.sqrt(xp.sum(xp.square(points), axis=1)), items=b.size[0])


@case(GROUP, "distances between rows", [(4096, 3)], ("f8",))
def _(b):
    """A product of matrices with three columns, and passes over its square result."""
    xp, (rows, _) = b.xp, b.size
    here, there = b.rand(b.size, seed=1), b.rand(b.size, seed=2)

    def fn():
        squares = xp.sum(here * here, axis=1)[:, None] + xp.sum(there * there, axis=1)[None, :]
        return xp.sqrt(xp.abs(squares - 2 * xp.matmul(here, there.T)))

    return Run(fn, items=rows * rows)


@case(GROUP, "mandelbrot set, 30 steps", [(600, 800)], ("f4",))
def _(b):
    """Ever fewer elements are picked by a mask, computed, and put back."""
    xp, set_, (rows, columns) = b.xp, b.xp.set_, b.size
    x = np.linspace(-2.2, 0.8, columns, dtype=NP[b.dt])
    y = np.linspace(-1.2, 1.2, rows, dtype=NP[b.dt])
    c = b.put(x[None, :] + y[:, None] * NP[b.dt](1) * np.complex64(1j))

    def fn():
        z, steps = xp.zeros_like(c), xp.zeros(c.shape, dtype=xp.int32)
        for step in range(30):
            stays = xp.abs(z) < 2
            steps = set_(steps, stays, step)
            z = set_(z, stays, z[stays] ** 2 + c[stays])
        return steps

    # Elements on the edge may take a step more or less.
    return Run(fn, items=30 * rows * columns, check=False)


@case(GROUP, "root of each element", [(1024, 1024)])
def _(b):
    """One operation on four or eight megabytes."""
    xp, x = b.xp, b.rand(b.size)
    return Run(lambda: xp.sqrt(x), bytes=2 * b.size[0] * b.size[1] * b.isz)


@case(GROUP, "sums of rows", [(1024, 1024)], ("f8",))
def _(b):
    """One reduction of as much."""
    xp, x = b.xp, b.rand(b.size)
    return Run(lambda: xp.sum(x, axis=1), bytes=b.size[0] * b.size[1] * b.isz)


@case(GROUP, "monte carlo, 256 batches", [2048], ("f8",))
def _(b):
    """Five operations on little, then a number that the program waits for."""
    xp, n = b.xp, b.size
    x, y = b.rand((256, n), 0, 1, seed=1), b.rand((256, n), 0, 1, seed=2)

    def fn():
        hits = 0
        for batch in range(256):
            u, v = x[batch, :], y[batch, :]
            hits += int(xp.count_nonzero(u * u + v * v <= 1.0))
        return xp.asarray(4.0 * hits / (256 * n))

    return Run(fn, items=256 * n)
