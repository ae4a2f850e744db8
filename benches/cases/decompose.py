"""Decompositions of matrices."""

from .case import Run, case, each


def _symmetric(b):
    x = b.rand((b.size, b.size))
    return b.xp.matmul(x, b.xp.matrix_transpose(x)) + b.xp.eye(b.size, dtype=x.dtype) * b.size


DECOMPOSITIONS = {
    "det": lambda linalg, x: linalg.det(x),
    "cholesky": lambda linalg, x: linalg.cholesky(x),
    "inv": lambda linalg, x: linalg.inv(x),
    "solve": lambda linalg, x: linalg.solve(x, x[0]),
    "qr": lambda linalg, x: linalg.qr(x)[1],
    "eigh": lambda linalg, x: linalg.eigh(x)[0],
    "svd": lambda linalg, x: linalg.svd(x)[1],
    "svdvals": lambda linalg, x: linalg.svdvals(x),
    "eigvalsh": lambda linalg, x: linalg.eigvalsh(x),
    "pinv": lambda linalg, x: linalg.pinv(x),
}
for _name, _call in DECOMPOSITIONS.items():

    @case("decompose", _name, [8, 128, 512], ("f8",))
    def _(b, call=_call):
        x, linalg = _symmetric(b), b.xp.linalg
        return each(b, lambda: call(linalg, x), b.size**3)


@case("decompose", "inv of a stack of 4x4", [10_000], ("f8",))
def _(b):
    x = b.rand((b.size, 4, 4)) + b.xp.eye(4) * 4
    return Run(lambda: b.xp.linalg.inv(x))
