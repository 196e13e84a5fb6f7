"""Who computes: our kernels, PyTorch's back ends, FlexAttention, and the kernels
that were written by hand to learn what is possible. Needs PyTorch."""

from __future__ import annotations

import math
import struct
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from problem import Problem
from tile import DriverError
from tile import driver as tile_driver
from tile.programs import (
    AnyVariant,
    Artifacts,
    accumulator_rows,
    choose_kv_sum,
    stats_shape,
)

#: PyTorch's name of a back end, by ours.
BACKENDS = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}


class Contender:
    """`run` computes o or (dq, dk, dv), [B, H, S, D], as often as it is called."""

    def __init__(
        self,
        run: Callable[[], Tuple[torch.Tensor, ...]],
        compile_seconds: Optional[float] = None,
        load_seconds: Optional[float] = None,
    ):
        self.run = run
        self.compile_seconds = compile_seconds
        self.load_seconds = load_seconds
        #: What is wrong beside the results, if anything.
        self.fault: Optional[str] = None


def make_ours(
    problem: Problem, artifacts: Artifacts, seconds: Dict[str, float]
) -> Contender:
    """Our kernels, which have run once. `seconds` are those of the compilations,
    by the name of the variant."""
    shape = problem.shape
    out = torch.full_like(problem.do, float("nan"))
    lse = torch.full(
        (shape.batch, shape.heads, shape.length), float("nan"), device="cuda"
    )
    # Our buffers are [B, S, H, D], whatever the strides.
    views = [x.transpose(1, 2) for x in (problem.q, problem.k, problem.v, out)]
    begin = time.perf_counter()
    forward = artifacts.load(shape.forward_variant)
    forward.launch(*views, lse, problem.scale)
    torch.cuda.synchronize()
    load_seconds = time.perf_counter() - begin
    fault = problem.lse_fault(lse)
    if not shape.backward:

        def run() -> Tuple[torch.Tensor, ...]:
            forward.launch(*views, lse, problem.scale)
            return (out,)

        used: AnyVariant = shape.forward_variant
    else:
        variants = shape.backward_variants
        kv = next(iter(variants))
        if len(variants) > 1:
            keys = shape.batch * shape.kv_heads * shape.length
            properties = torch.cuda.get_device_properties("cuda")
            kv = choose_kv_sum(keys, properties.multi_processor_count)
        used = variants[kv]
        begin = time.perf_counter()
        run = _backward(problem, artifacts, used, kv, out, lse)
        load_seconds = time.perf_counter() - begin
    ours = Contender(run, seconds.get(used.name), load_seconds)
    ours.fault = fault
    return ours


def _backward(
    problem: Problem,
    artifacts: Artifacts,
    variant: AnyVariant,
    kv: str,
    out: torch.Tensor,
    lse: torch.Tensor,
) -> Callable[[], Tuple[torch.Tensor, ...]]:
    """Our gradients, which have run once. What is scratch held NaN before."""
    shape = problem.shape

    def scratch(rows: int, heads: int, d: int) -> torch.Tensor:
        sizes = (shape.batch, rows, heads, d)
        return torch.full(sizes, float("nan"), device="cuda")

    gradients = tuple(
        torch.full_like(x, float("nan")) for x in (problem.q, problem.k, problem.v)
    )
    backward = artifacts.load(variant)
    tensors = [problem.q, problem.k, problem.v, out, problem.do, *gradients]
    views = [x.transpose(1, 2) for x in tensors]
    memory = [torch.full(stats_shape(lse.shape), float("nan"), device="cuda")]
    memory.append(scratch(accumulator_rows(shape.length), shape.heads, shape.d))
    if kv == "separate":
        memory += [scratch(shape.length, shape.heads, d) for d in (shape.d, shape.dv)]

    def run() -> Tuple[torch.Tensor, ...]:
        backward.launch(*views[:5], lse, *views[5:], *memory, problem.scale)
        return gradients

    run()
    torch.cuda.synchronize()
    return run


def make_peer(name: str, problem: Problem) -> Contender:
    """cudnn, flash or flex, which has run once; raises what PyTorch raises where
    it refuses the input."""
    if name == "flex":
        return _flex(problem)
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
    """FlexAttention, compiled for this shape alone."""
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


def _differentiated(
    problem: Problem, attention: Callable[..., torch.Tensor]
) -> Callable[[], Tuple[torch.Tensor, ...]]:
    """Calls `attention` or, for a backward pass, its gradients alone; once."""
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


class Spike:
    """A forward kernel written by hand, forward128.cubin or .ptx in a folder, whose
    shared memory the first line of forward128.ll says ("; smem BYTES"). It takes
    bf16 and heads of 128 without a mask, in contiguous [B, H, S, D], and rows in
    blocks of 128."""

    NAME, ENTRY, D, ROWS, THREADS = "forward128", "fa", 128, 128, 384

    def __init__(self, folder: Path):
        """Raises OSError or ValueError where the files are not as expected."""
        line = (folder / f"{self.NAME}.ll").read_text().split("\n", 1)[0]
        words = line.split()
        if len(words) < 3 or not words[2].isdigit():
            raise ValueError(f"{folder / self.NAME}.ll does not begin with '; smem BYTES'")
        self.shared = int(words[2])
        images = [folder / f"{self.NAME}{suffix}" for suffix in (".cubin", ".ptx")]
        image = next((path for path in images if path.exists()), images[0])
        self.driver = tile_driver.shared()
        torch.cuda.current_stream().synchronize()  # there is a context now
        module, _ = self.driver.load_module(image.read_bytes())
        self.function = self.driver.get_function(module, self.ENTRY)
        self.driver.allow_shared_memory(self.function, self.shared, 0)

    def takes(self, problem: Problem) -> bool:
        shape = problem.shape
        return (
            not (shape.backward or shape.causal)
            and (shape.d, shape.dv, shape.dtype) == (self.D, self.D, "bf16")
            and shape.heads == shape.kv_heads
            and shape.length % self.ROWS == 0
            and problem.order == "bhsd"
        )

    def make(self, problem: Problem) -> Contender:
        shape = problem.shape
        blocks = shape.batch * shape.heads
        out = torch.full_like(problem.q, float("nan"))
        params = b"".join(
            self.driver.encode_tensor_map(
                "bf16",
                x.data_ptr(),
                (self.D, blocks * shape.length),
                (self.D * 2,),
                (64, self.ROWS),
                128,
            )
            for x in (problem.q, problem.k, problem.v)
        )
        offsets = [0, 128, 256, 384, 392, 396]
        scale = problem.scale * math.log2(math.e)
        params += struct.pack("<Qif", out.data_ptr(), shape.length, scale)
        grid = (shape.length // self.ROWS, blocks, 1)

        def run() -> Tuple[torch.Tensor, ...]:
            stream = torch.cuda.current_stream().cuda_stream
            self.driver.launch(
                self.function,
                grid,
                (self.THREADS, 1, 1),
                self.shared,
                stream,
                params,
                offsets,
            )
            return (out,)

        run()
        torch.cuda.synchronize()
        return Contender(run)


def make_contenders(
    problem: Problem,
    artifacts: Artifacts,
    seconds: Dict[str, float],
    peers: List[str],
    spike: Optional[Spike],
) -> Dict[str, Contender]:
    """All that take the problem, ours first; says of the others why not."""
    found = {"ours": make_ours(problem, artifacts, seconds)}
    for name in peers:
        try:
            # PyTorch warns of what the error says, too.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = make_peer(name, problem)
        except torch.cuda.OutOfMemoryError:
            print(f"{name} is left out: the GPU's memory is too small")
        except Exception as error:  # noqa: BLE001: compilers raise what they like
            text = str(error).strip() or type(error).__name__
            print(f"{name} is left out: {text.splitlines()[0]}")
    if spike is not None and spike.takes(problem):
        try:
            found["spike"] = spike.make(problem)
        except DriverError as error:
            print(f"spike is left out: {error}")
    return found
