"""The contenders: our kernels, PyTorch's back ends, FlexAttention, and hand-written
kernels. Needs PyTorch."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

import fa3
import fa4
import torch
from problem import Problem
from results import OURS_MAIN, SPIKE, SPIKE_MAIN
from spikes import BackwardSpike, ForwardSpike, Spikes
from tile import DriverError, Module
from tile.choices import choose_kv_sum, count_key_blocks
from tile.programs import KEYS_KERNEL, AnyVariant, Artifacts

#: PyTorch's back end for each peer.
BACKENDS = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}


class Contender:
    """An implementation of one problem.

    `run` is timed. Each call computes o or (dq, dk, dv), [B, H, S, D]. If `run`
    computes only a part of them, `check` computes them all.
    """

    def __init__(
        self,
        run: Callable[[], Any],
        compile_seconds: Optional[float] = None,
        load_seconds: Optional[float] = None,
        check: Optional[Callable[[], Tuple[torch.Tensor, ...]]] = None,
    ):
        self.run = run
        self.check = check or run
        self.compile_seconds = compile_seconds
        self.load_seconds = load_seconds
        #: A description of a fault that `check` does not find, or None.
        self.fault: Optional[str] = None


class Ours:
    """Our kernels for a problem. The constructor runs them once.

    `seconds` holds the compile times by variant name.
    """

    def __init__(
        self, problem: Problem, artifacts: Artifacts, seconds: Dict[str, float]
    ):
        shape = problem.shape
        self.out = torch.full_like(problem.do, float("nan"))
        self.lse = torch.full(
            (shape.batch, shape.heads, shape.length), float("nan"), device="cuda"
        )
        self._gradients: Optional[_Gradients] = None
        # The dimensions of our buffers are [B, S, H, D], with any strides.
        tensors = (problem.q, problem.k, problem.v, self.out)
        views = [x.transpose(1, 2) for x in tensors]
        begin = time.perf_counter()
        forward = artifacts.load(shape.forward_variant)
        forward.launch(*views, self.lse, problem.scale)
        torch.cuda.synchronize()
        load_seconds = time.perf_counter() - begin
        fault = problem.lse_fault(self.lse)
        if not shape.backward:

            def run() -> Tuple[torch.Tensor, ...]:
                forward.launch(*views, self.lse, problem.scale)
                return (self.out,)

            used: AnyVariant = shape.forward_variant
        else:
            variants = shape.backward_variants
            kv = next(iter(variants))
            if len(variants) > 1:
                properties = torch.cuda.get_device_properties("cuda")
                processors = properties.multi_processor_count
                blocks = count_key_blocks(
                    artifacts.load(variants["loop"]).manifest,
                    {"q": tuple(views[0].shape), "k": tuple(views[1].shape)},
                    {},
                    processors,
                )
                kv = choose_kv_sum(
                    blocks,
                    shape.heads // shape.kv_heads,
                    shape.length,
                    shape.length,
                    shape.causal,
                    None,
                    processors,
                )
            used = variants[kv]
            begin = time.perf_counter()
            self._gradients = _Gradients(problem, artifacts.load(used), self)
            run = self._gradients.run
            torch.cuda.synchronize()
            load_seconds = time.perf_counter() - begin
        self.all = Contender(run, seconds.get(used.name), load_seconds)
        self.all.fault = fault

    def make_main(self) -> Contender:
        """Returns a contender that runs only the main kernel of backward, which
        computes dK and dV."""
        assert self._gradients is not None
        gradients = self._gradients
        return Contender(
            gradients.run_main, self.all.compile_seconds, check=gradients.run_one_by_one
        )


class _Gradients:
    """Our gradients. The constructor computes them once; scratch memory holds NaN
    before that."""

    def __init__(self, problem: Problem, kernels: Module, ours: Ours):
        self.kernels = kernels
        self.gradients = tuple(
            torch.full_like(x, float("nan")) for x in (problem.q, problem.k, problem.v)
        )
        tensors = [problem.q, problem.k, problem.v, ours.out, problem.do]
        views = [x.transpose(1, 2) for x in [*tensors, *self.gradients]]
        names = ("q", "k", "v", "o", "do", "dq", "dk", "dv")
        shapes = {name: tuple(x.shape) for name, x in zip(names, views)}
        shapes["lse"] = tuple(ours.lse.shape)
        memory = [
            torch.full(buffer.shape, float("nan"), device="cuda")
            for buffer in kernels.scratch(shapes).values()
        ]
        self.arguments = (*views[:5], ours.lse, *views[5:], *memory, problem.scale)
        self.run()

    def run(self) -> Tuple[torch.Tensor, ...]:
        self.kernels.launch(*self.arguments)
        return self.gradients

    def run_main(self) -> None:
        """Runs the main kernel alone. It reads the row statistics of the first run
        and adds to the current contents of the dQ accumulator."""
        name = next(n for n in self.kernels.kernels if n.endswith(KEYS_KERNEL))
        self.kernels[name](*self.arguments)

    def run_one_by_one(self) -> Tuple[torch.Tensor, ...]:
        for kernel in self.kernels.kernels.values():
            kernel(*self.arguments)
        return self.gradients


def make_peer(name: str, problem: Problem) -> Contender:
    """Returns the peer cudnn, flash, flex, fa3 or fa4 after one run. Raises an
    exception of PyTorch if the peer refuses the input."""
    if name == "flex":
        return _flex(problem)
    if name == "fa3":
        return _fa3(problem)
    if name == "fa4":
        return _fa4(problem)
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    options: Dict[str, Any] = {"is_causal": problem.shape.causal, "scale": problem.scale}
    if problem.shape.kv_heads != problem.shape.heads:
        options["enable_gqa"] = True
    backend = getattr(SDPBackend, BACKENDS[name])

    def attention(*inputs: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(*inputs, **options)

    return Contender(_differentiated(problem, attention))


def _flex(problem: Problem) -> Contender:
    """Returns FlexAttention, compiled for this shape alone."""
    from torch.nn.attention import flex_attention

    shape = problem.shape
    torch._dynamo.reset()
    begin = time.perf_counter()
    compiled = torch.compile(flex_attention.flex_attention, dynamic=False)
    options: Dict[str, Any] = {"scale": problem.scale}
    if shape.causal:
        options["block_mask"] = flex_attention.create_block_mask(
            lambda b, h, q, k: q >= k, None, None, shape.length, shape.length, "cuda"
        )
    if shape.kv_heads != shape.heads:
        options["enable_gqa"] = True
    run = _differentiated(problem, lambda *inputs: compiled(*inputs, **options))
    return Contender(run, time.perf_counter() - begin)


def _fa3(problem: Problem) -> Contender:
    """Returns FlashAttention-3. Raises OSError if there is none."""
    kernels = fa3.load()
    if kernels is None:
        raise OSError("the environment variable FA3 names no folder")
    options = {"softmax_scale": problem.scale, "is_causal": problem.shape.causal}

    def forward(q: Any, k: Any, v: Any, o: Any) -> torch.Tensor:
        return kernels.fwd(q, k, v, out=o, num_splits=1, **options)[1]

    def backward(do: Any, q: Any, k: Any, v: Any, o: Any, lse: Any, out: Any) -> None:
        kernels.bwd(do, q, k, v, o, lse, *out, **options)

    return _flash_attention(problem, forward, backward)


def _fa4(problem: Problem) -> Contender:
    """Returns FlashAttention-4. Raises OSError if there is none."""
    kernels = fa4.load()
    if kernels is None:
        raise OSError("the package flash-attn-4 is not installed")
    options = {"softmax_scale": problem.scale, "causal": problem.shape.causal}

    def forward(q: Any, k: Any, v: Any, o: Any) -> torch.Tensor:
        # Without a buffer for lse, the kernel writes none.
        lse = torch.empty(
            (q.shape[0], q.shape[2], q.shape[1]), device="cuda", dtype=torch.float32
        )
        kernels._flash_attn_fwd(q, k, v, out=o, lse=lse, **options)
        return lse

    def backward(do: Any, q: Any, k: Any, v: Any, o: Any, lse: Any, out: Any) -> None:
        dq, dk, dv = out
        kernels._flash_attn_bwd(q, k, v, o, do, lse, dq=dq, dk=dk, dv=dv, **options)

    begin = time.perf_counter()
    contender = _flash_attention(problem, forward, backward)
    contender.compile_seconds = time.perf_counter() - begin
    return contender


def _flash_attention(
    problem: Problem,
    forward: Callable[..., torch.Tensor],
    backward: Callable[..., None],
) -> Contender:
    """Returns a contender of two functions on tensors [B, S, H, D] after one run:
    `forward` writes o and returns lse, `backward` writes the gradients."""
    tensors = (problem.q, problem.k, problem.v, problem.do)
    q, k, v, do = (x.transpose(1, 2) for x in tensors)
    out = torch.full_like(problem.do, float("nan"))
    o = out.transpose(1, 2)
    lse = forward(q, k, v, o)
    gradients = tuple(torch.full_like(x, float("nan")) for x in tensors[:3])
    views = [x.transpose(1, 2) for x in gradients]

    def run_forward() -> Tuple[torch.Tensor, ...]:
        forward(q, k, v, o)
        return (out,)

    def run_backward() -> Tuple[torch.Tensor, ...]:
        backward(do, q, k, v, o, lse, views)
        return gradients

    run = run_backward if problem.shape.backward else run_forward
    run()
    torch.cuda.synchronize()
    return Contender(run)


def _differentiated(
    problem: Problem, attention: Callable[..., torch.Tensor]
) -> Callable[[], Tuple[torch.Tensor, ...]]:
    """Returns a function that calls `attention` or, for a backward pass, computes
    only its gradients. The function has run once."""
    inputs = [problem.q, problem.k, problem.v]
    if not problem.shape.backward:

        def run() -> Tuple[torch.Tensor, ...]:
            return (attention(*inputs),)

    else:
        inputs = [x.detach().requires_grad_() for x in inputs]
        out = attention(*inputs)

        def run() -> Tuple[torch.Tensor, ...]:
            return torch.autograd.grad(out, inputs, problem.do, retain_graph=True)

    run()
    torch.cuda.synchronize()
    return run


def _make_spikes(
    problem: Problem, ours: Ours, spikes: Spikes
) -> Dict[str, Contender]:
    """Returns the hand-written kernel for the problem, if there is one, and the
    kernel of ours that it is compared with."""
    spike = spikes.find(problem)
    if isinstance(spike, BackwardSpike):
        run, check = spike.make(problem, ours.out, ours.lse)
        check()
        return {
            OURS_MAIN: ours.make_main(),
            SPIKE_MAIN: Contender(run, check=check),
        }
    if isinstance(spike, ForwardSpike):
        run = spike.make(problem)
        run()
        return {SPIKE: Contender(run)}
    return {}


def make_contenders(
    problem: Problem,
    artifacts: Artifacts,
    seconds: Dict[str, float],
    peers: List[str],
    spikes: Optional[Spikes],
) -> Dict[str, Contender]:
    """Returns all contenders that support the problem, ours first. Prints the
    reason for each one that is left out."""
    ours = Ours(problem, artifacts, seconds)
    found = {"ours": ours.all}
    for name in peers:
        try:
            # PyTorch's warnings repeat the error message.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = make_peer(name, problem)
        except torch.cuda.OutOfMemoryError:
            print(f"{name} is left out: out of GPU memory")
        except Exception as error:  # noqa: BLE001 - compilers raise any type
            text = str(error).strip() or type(error).__name__
            print(f"{name} is left out: {text.splitlines()[0]}")
    if spikes is not None:
        try:
            found.update(_make_spikes(problem, ours, spikes))
            torch.cuda.synchronize()
        except DriverError as error:
            print(f"the hand-written kernel is left out: {error}")
    return found
