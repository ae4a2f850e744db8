"""How each library is driven: its namespace, how to wait for a result, and what it lacks or spells in another way."""

import importlib
import os

import numpy as np


class Skip(Exception):
    pass


class NS:
    """The library's namespace with overrides; attributes are looked up once, then cached on the instance."""

    def __init__(self, mod, over):
        self.__dict__["_mod"] = mod
        self.__dict__.update(over)

    def __getattr__(self, k):
        try:
            v = getattr(self._mod, k)
        except AttributeError:
            raise Skip(f"no {k}") from None
        if v is None:
            raise Skip(f"no {k}")
        self.__dict__[k] = v
        return v


def _set(x, i, v):
    x[i] = v
    return x


def _iadd(x, y):
    x += y
    return x


# Operations that the standard lacks or that a library spells in another way. Every one is overridable per adapter.
DEFAULT_OPS = {
    "set_": _set,
    "iadd_": _iadd,
    "native_softmax": None,
    "native_rmsnorm": None,
}


class Adapter:
    def __init__(
        self,
        name,
        module,
        sync=None,
        from_numpy=None,
        to_numpy=None,
        jit=None,
        ops=None,
        raw_alloc=None,
        expr=None,
        version=None,
        only_expr=False,
    ):
        self.name = name
        self.xp = NS(module, {k: v for k, v in {**DEFAULT_OPS, **(ops or {})}.items() if v is not None})
        self.sync1 = sync or (lambda x: None)
        self.from_numpy = from_numpy or self._from_numpy
        self.to_numpy = to_numpy or self._to_numpy
        self.jit, self.raw_alloc, self.expr, self.only_expr = jit, raw_alloc or {}, expr, only_expr
        self.version = version or getattr(module, "__version__", "?")

    def sync(self, r):
        if isinstance(r, (tuple, list)):
            r = r[-1]
        self.sync1(r)

    def _from_numpy(self, a):
        try:
            return self.xp.asarray(a)
        except Exception:
            return self.xp.from_dlpack(a)

    def _to_numpy(self, x):
        try:
            return np.asarray(x)
        except Exception:
            return np.from_dlpack(x)


def a_numpy():
    def top_k(x, k):
        return np.sort(np.partition(x, x.size - k)[-k:])[::-1]

    return Adapter("numpy", np, ops={"top_k": top_k}, raw_alloc={"numpy.empty": lambda n: np.empty(n, np.uint8)})


def a_numexpr():
    import numexpr as ne

    ne.set_num_threads(os.cpu_count())
    return Adapter(
        "numexpr", np, expr=lambda e, v: ne.evaluate(e, local_dict=v), only_expr=True, version=ne.__version__
    )


def a_dpctl():
    import dpctl
    import dpctl.memory as dpm
    import dpctl.tensor as dpt

    q = dpt.empty(1).sycl_queue
    raw = {
        "MemoryUSMShared": lambda n: dpm.MemoryUSMShared(n, queue=q),
        "MemoryUSMDevice": lambda n: dpm.MemoryUSMDevice(n, queue=q),
        "MemoryUSMHost": lambda n: dpm.MemoryUSMHost(n, queue=q),
    }

    def wait(x):
        (x.sycl_queue if hasattr(x, "sycl_queue") else q).wait()

    return Adapter("dpctl", dpt, sync=wait, to_numpy=dpt.asnumpy, raw_alloc=raw, version=dpctl.__version__)


def a_dpnp():
    import dpnp

    q = dpnp.empty(1).sycl_queue
    return Adapter("dpnp", dpnp, sync=lambda x: q.wait(), to_numpy=dpnp.asnumpy)


def a_torch():
    import array_api_compat.torch as xp
    import torch

    ops = {
        "top_k": torch.topk,
        "native_softmax": lambda x: torch.softmax(x, -1),
        "native_rmsnorm": lambda x, w: torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6),
    }
    jit = None
    if os.environ.get("BENCH_TORCH_COMPILE", "1") == "1":
        jit = lambda f: torch.compile(f, fullgraph=True, dynamic=False)
    return Adapter(
        "torch",
        xp,
        from_numpy=lambda a: torch.from_numpy(a.copy()),
        to_numpy=lambda x: x.numpy(),
        jit=jit,
        ops=ops,
        raw_alloc={"torch.empty": lambda n: torch.empty(n, dtype=torch.uint8)},
        version=torch.__version__,
    )


def a_jax():
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    ops = {
        "top_k": jax.lax.top_k,
        "set_": lambda x, i, v: x.at[i].set(v),
        "native_softmax": lambda x: jax.nn.softmax(x, -1),
    }
    A = Adapter("jax", jnp, sync=lambda x: x.block_until_ready(), jit=jax.jit, ops=ops, version=jax.__version__)
    A.xp.__dict__["iadd_"] = None  # arrays are immutable
    return A


def a_millpond():
    import millpond
    import millpond.memory
    import millpond.tensor as xp

    raw = {
        f"millpond.{kind}": getattr(millpond.memory, kind) for kind in ("DeviceMemory", "SharedMemory", "HostMemory")
    }
    return Adapter("millpond", xp, sync=lambda x: x.device.wait(), raw_alloc=raw, version=millpond.__version__)


ADAPTERS = {
    "numpy": a_numpy,
    "millpond": a_millpond,
    "numexpr": a_numexpr,
    "dpctl": a_dpctl,
    "dpnp": a_dpnp,
    "torch": a_torch,
    "jax": a_jax,
}


def generic(name, module, sync, to_numpy):
    f = eval(sync, {}) if sync else None
    t = eval(to_numpy, {"np": np}) if to_numpy else None
    return Adapter(name, importlib.import_module(module or name), sync=f, to_numpy=t)
