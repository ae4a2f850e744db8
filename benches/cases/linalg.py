"""Products of matrices and vectors."""

from .case import Run, case, each


@case("linalg", "matmul", [10, 100, 512, 1024, 2048])
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n, n), seed=1), b.xp
    return each(b, lambda: xp.matmul(x, y), n**2, flops=2 * n**3)


@case("linalg", "matmul of integers", [512], ("i4", "i8"))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n), 0, 9), b.rand((n, n), 0, 9, seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * n**3)


@case("linalg", "matmul A@B.T", [1024], ("f4",))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n, n), seed=1), b.xp
    return Run(lambda: xp.matmul(x, xp.matrix_transpose(y)), flops=2 * n**3)


@case("linalg", "matvec", [128, 1024, 4096])
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n,), seed=1), b.xp
    return each(b, lambda: xp.matmul(x, y), b.size, flops=2 * n * n, bytes=n * n * b.isz)


@case("linalg", "batched matmul 8x8", [1000])
def _(b):
    x, y, xp = b.rand((b.size, 8, 8)), b.rand((b.size, 8, 8), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 8**3 * b.size, bytes=3 * b.size * 64 * b.isz)


@case("linalg", "batched matmul 64x64", [100])
def _(b):
    x, y, xp = b.rand((b.size, 64, 64)), b.rand((b.size, 64, 64), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 64**3 * b.size)


@case("linalg", "batched matmul 16x16", [10_000])
def _(b):
    x, y, xp = b.rand((b.size, 16, 16)), b.rand((b.size, 16, 16), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 16**3 * b.size, bytes=3 * b.size * 256 * b.isz)


@case("linalg", "batched matmul 128x128", [100], ("f4",))
def _(b):
    x, y, xp = b.rand((b.size, 128, 128)), b.rand((b.size, 128, 128), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 128**3 * b.size)


@case("linalg", "vecdot", [100, 10_000, 10_000_000])
def _(b):
    x, y, xp = b.rand((b.size,)), b.rand((b.size,), seed=1), b.xp
    return each(b, lambda: xp.vecdot(x, y), b.size, flops=2 * b.size, bytes=2 * b.size * b.isz)


@case("linalg", "vecdot rows", [(10_000, 1000)], ("f4",))
def _(b):
    r, c = b.size
    x, y, xp = b.rand((r, c)), b.rand((r, c), seed=1), b.xp
    return Run(lambda: xp.vecdot(x, y), flops=2 * r * c, bytes=2 * r * c * b.isz)


@case("linalg", "tensordot (64,32,32)x(32,32,128) 2 axes", [64], ("f4",))
def _(b):
    x, y, xp = b.rand((64, 32, 32)), b.rand((32, 32, 128), seed=1), b.xp
    return Run(lambda: xp.tensordot(x, y, axes=2), flops=2 * 64 * 1024 * 128)


@case("linalg", "matvec, columns", [4096], ("f8",))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n,), seed=1), b.xp
    return Run(lambda: xp.matmul(xp.matrix_transpose(x), y), flops=2 * n * n, bytes=n * n * b.isz)
