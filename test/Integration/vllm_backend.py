#!/usr/bin/env python3
"""Test of tile as an attention back end of vLLM, against float64.

Steps are those of vLLM's model runner: tensors that stay and are written anew for each
step, rows of padding, pages in any order. Rows of the cache that hold no key and rows
of padding are NaN, and entries of the block table behind the lengths are no pages.

    vllm_backend.py                   # on the GPU at hand, else on the CPU
    vllm_backend.py --device cpu      # in the executor; needs no GPU

Where vLLM cannot be imported, vllm_interface.py stands for the classes that the back end
derives from. --pack and TILE_PACK_DIR are those of autograd.py.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import SimpleNamespace
from unittest import TestCase, mock

from tensor_tests import Skipped, Suite, capture, main, need_torch

#: Entries of tables that must not be read.
GARBAGE = 2147480000

CPU_CHIPS = ("sm_80", "sm_89", "sm_90a", "gfx942", "gfx950", "gfx1100", "gfx1201")

#: The chips of the steps in the executor; GPUs that vLLM runs this back end on.
STEP_CHIPS = ("sm_80", "sm_90a")

#: Why vLLM's own classes are not tested; empty if they are.
missing = ""


def interface():
    """Returns tile.vllm.backend, on vLLM's classes if they can be imported."""
    global missing
    if "tile.vllm.backend" not in sys.modules:
        try:
            importlib.import_module("vllm.v1.attention.backend")
        except ImportError as error:
            missing = str(error)
            for name in [n for n in sys.modules if n.split(".")[0] == "vllm"]:
                del sys.modules[name]
            import vllm_interface

            vllm_interface.install()
    return importlib.import_module("tile.vllm.backend")


class Runner:
    """Requests, the caches of some layers, and what a step needs of them."""

    REQUESTS, ENTRIES, TOKENS = 6, 40, 512

    def __init__(self, suite, heads=(8, 2), d=64, page=16, order="HND", dtype="bfloat16",
                 layers=1, dv=None, seed=0, sink=False, **options):  # fmt: skip
        import torch

        self.suite, self.heads, self.page, self.seed = suite, heads, page, seed
        self.d, self.dv, self.dtype = d, dv or d, dtype
        self.device, self.kind = suite.device, getattr(torch, dtype)
        self.backend = interface()
        self.options = options
        self.sink = suite.normal((heads[0],), "float32", 77).detach() if sink else None
        implementation = self.backend.TileAttentionBackend.get_impl_cls()
        self.layers = [
            implementation(
                heads[0], d, d**-0.5, heads[1], None, options.get("window"), "auto",
                options.get("softcap"), sinks=self.sink,
            )
            for _ in range(layers)
        ]  # fmt: skip
        self.spec = SimpleNamespace(
            dtype=self.kind, block_size=page, head_size=d, head_size_v=self.dv
        )
        config = SimpleNamespace(
            compilation_config=SimpleNamespace(static_forward_context={})
        )
        self.builder = self.backend.TileAttentionBackend.get_builder_cls()(
            self.spec, [], config, torch.device(self.device)
        )
        self.make_caches(order, layers)
        # vLLM keeps these tensors, because CUDA graphs read them.
        numbers = {"dtype": torch.int32, "device": self.device}
        self.starts = torch.zeros(self.REQUESTS + 1, **numbers)
        self.lengths = torch.zeros(self.REQUESTS, **numbers)
        self.table = torch.full((self.REQUESTS, self.ENTRIES), GARBAGE, **numbers)
        self.slots = torch.full(
            (self.TOKENS,), -1, dtype=torch.int64, device=self.device
        )
        # The keys and values of each request so far, by layer.
        self.known = [
            [[self.rows(0, self.d), self.rows(0, self.dv)] for _ in range(layers)]
            for _ in range(self.REQUESTS)
        ]
        self.pages = [[] for _ in range(self.REQUESTS)]

    def make_caches(self, order, layers):
        """Makes views [P, Hkv, R, D + Dv] of the caches of layers."""
        import torch

        count, heads, width = self.REQUESTS * self.ENTRIES, self.heads[1], self.d + self.dv
        generator = torch.Generator().manual_seed(self.seed)
        self.free = torch.randperm(count, generator=generator).tolist()
        shapes = {
            "HND": ((layers, count, heads, self.page, width), (0, 1, 2, 3, 4)),
            "NHD": ((layers, count, self.page, heads, width), (0, 1, 3, 2, 4)),
            "blocks": ((count, layers, heads, self.page, width), (1, 0, 2, 3, 4)),
            "heads": ((layers, heads, count, self.page, width), (0, 2, 1, 3, 4)),
        }
        shape, places = shapes[order]
        cache = torch.full(shape, float("nan"), dtype=self.kind, device=self.device)
        self.caches = list(cache.permute(places))
        if heads == 1:
            # PyTorch allows any stride for one element.
            self.caches = [
                c.as_strided(c.shape, (c.stride(0), 1, *c.stride()[2:]))
                for c in self.caches
            ]

    def rows(self, count, columns, heads=None):
        self.seed += 1
        shape = (count, heads or self.heads[1], columns)
        return self.suite.normal(shape, self.dtype, self.seed).detach()

    def schedule(self, counts, padded=0, requests=0, causal=True, longest=0):
        """Adds tokens to the first requests; returns vLLM's metadata of the step, with
        rows and requests of padding. `longest` is the most tokens of a request that it
        states, at least."""
        import torch

        total = sum(counts)
        self.counts, self.tokens = list(counts), max(padded, total)
        requests = max(requests, len(counts))
        starts, lengths, slots = [0], [], []
        for r, count in enumerate(counts):
            before = self.known[r][0][0].shape[0]
            starts.append(starts[-1] + count)
            lengths.append(before + count)
            while len(self.pages[r]) * self.page < before + count:
                page = self.free.pop()
                self.table[r, len(self.pages[r])] = page
                self.pages[r].append(page)
            slots += [
                self.pages[r][i // self.page] * self.page + i % self.page
                for i in range(before, before + count)
            ]
        more = requests - len(counts)
        self.starts[: requests + 1] = self.starts.new_tensor(starts + [total] * more)
        self.lengths[:requests] = self.lengths.new_tensor(lengths + [0] * more)
        self.slots.fill_(-1)
        self.slots[:total] = self.slots.new_tensor(slots)
        return sys.modules["vllm.v1.attention.backend"].CommonAttentionMetadata(
            query_start_loc=self.starts[: requests + 1],
            query_start_loc_cpu=torch.tensor(starts + [total] * more, dtype=torch.int32),
            seq_lens=self.lengths[:requests],
            num_reqs=requests,
            num_actual_tokens=self.tokens,
            max_query_len=max(longest, *counts),
            max_seq_len=max(lengths),
            block_table_tensor=self.table[:requests],
            slot_mapping=self.slots[: self.tokens],
            causal=causal,
        )

    def make_inputs(self):
        """Makes queries, keys and values of the step for each layer, and outputs."""
        import torch

        self.inputs = []
        total = sum(self.counts)
        for _ in self.layers:
            # One tensor, as a model's projection gives it.
            hq, hk = self.heads
            sizes = hq * self.d, hk * self.d, hk * self.dv
            both = self.rows(self.tokens, sum(sizes), 1)[:, 0]
            both[total:] = float("nan")
            q, k, v = both.split(sizes, 1)
            self.inputs.append((
                q.unflatten(1, (hq, self.d)), k.unflatten(1, (hk, self.d)),
                v.unflatten(1, (hk, self.dv)),
            ))  # fmt: skip
        self.outputs = [
            torch.full((self.tokens, self.heads[0], self.dv), 7.0, dtype=self.kind,
                       device=self.device)
            for _ in self.layers
        ]  # fmt: skip

    def run(self, metadata):
        """Runs the layers of a step."""
        for layer, cache, (q, k, v), o in zip(
            self.layers, self.caches, self.inputs, self.outputs
        ):
            layer.do_kv_cache_update(
                SimpleNamespace(_k_scale=self.one, _v_scale=self.one), k, v, cache,
                self.slots[: self.tokens],
            )  # fmt: skip
            assert layer.forward(None, q, k, v, cache, metadata, o) is o

    @property
    def one(self):
        import torch

        return torch.ones((), device=self.device)

    def check(self, causal=True):
        """Compares the results with float64, and knows the new keys from now on."""
        import torch
        from tile import testing

        window = self.options.get("window")
        if window is not None:
            window = (window - 1, -1 if causal else window - 1)
        for layer, ((q, k, v), o) in enumerate(zip(self.inputs, self.outputs)):
            start = 0
            for r, count in enumerate(self.counts):
                rows = slice(start, start + count)
                start += count
                known = self.known[r][layer]
                known[0] = torch.cat((known[0], k[rows]))
                known[1] = torch.cat((known[1], v[rows]))
                if not count:
                    continue
                given = q[rows][None], known[0][None], known[1][None]
                named = {
                    "causal": causal, "window": window, "sink": self.sink,
                    "softcap": self.options.get("softcap"),
                }  # fmt: skip
                exact, _ = testing.attention(*given, self.d**-0.5, **named)
                low, _ = testing.attention(*given, self.d**-0.5, dtype=q.dtype, **named)
                result = testing.compare(o[rows][None], exact, low)
                assert result.ok, f"layer {layer}, request {r}: {result}"
            assert (o[start:] == 7).all(), "rows of padding were written"

    def step(self, counts, padded=0, requests=0, causal=True, longest=0):
        """Runs a step in inference mode, as vLLM does, and checks it."""
        import torch

        with torch.inference_mode():
            common = self.schedule(counts, padded, requests, causal, longest)
            self.make_inputs()
            metadata = self.builder.build(0, common)
            self.run(metadata)
            self.check(causal)
        return metadata

    def count_memory(self):
        return sum(t.numel() for t in self.builder._schedule._memory)


class Tests(Suite):
    """The tests of tile.vllm."""

    def tests(self):
        def bind(name, chip):
            def test():
                os.environ["TILE_CPU_CHIP"] = chip
                getattr(self, name)()

            return test

        found = {}
        for chip in CPU_CHIPS if self.device == "cpu" else ("",):
            found[f"slots {chip}".rstrip()] = bind("slots", chip)
        for name in ("serve", "features", "pages"):
            for chip in STEP_CHIPS if self.device == "cpu" else ("",):
                found[f"{name} {chip}".rstrip()] = bind(name, chip)
        return {**found, **super().tests()}

    def make(self, *args, **options):
        # Tensors of vLLM are made in inference mode, where PyTorch counts no changes.
        import torch

        with torch.inference_mode():
            return Runner(self, *args, **options)

    def slots(self):
        """Rows are written to their slots; those without a slot are not."""
        import torch
        from tile.append import store

        for d, dv in ((64, 64), (40, 24)):
            cache = torch.full(
                (6, 2, 16, d + dv), float("nan"), dtype=torch.bfloat16, device=self.device
            )
            expected = cache.clone()
            pages = cache.transpose(1, 2)
            k, v = (self.normal((9, 2, n), "bfloat16", n).detach() for n in (d, dv))
            places = [0, 95, -1, 17, 96, 33, 2**40]
            slots = torch.tensor(places, device=self.device)
            store(k, v, pages[..., :d], pages[..., d:], slots)
            for i, slot in enumerate(places):
                if 0 <= slot < 96:
                    expected[slot // 16, :, slot % 16, :d] = k[i]
                    expected[slot // 16, :, slot % 16, d:] = v[i]
            assert torch.equal(cache.nan_to_num(9e9), expected.nan_to_num(9e9))
            store(k, v, pages[..., :d], pages[..., d:], slots[:0])

    def serve(self):
        """Prompts, steps of decoding, and both in one launch, with padding."""
        runner = self.make((8, 2), 64, layers=2)
        for counts, padded, requests in (
            ((37,), 0, 0),
            ((1, 50, 3), 64, 4),
            ((1, 1, 1), 4, 4),
            ((1, 1, 1, 40, 0), 48, 6),
            ((1, 1, 1, 1, 5), 0, 6),
            ((1, 1, 1, 1, 1, 1), 6, 6),
        ):
            runner.step(counts, padded, requests)

    def features(self):
        """Groups of heads, head sizes, types, windows, softcap, sinks, and no mask."""
        for seed, (heads, d, options) in enumerate((
            ((4, 4), 128, {"dtype": "float16"}),
            ((8, 1), 64, {"window": 20}),
            ((6, 2), 40, {"sink": True, "softcap": 5.0}),
            ((4, 2), 192, {"dv": 128}),
            ((8, 2), 64, {"sink": True, "window": 33, "page": 64}),
        )):  # fmt: skip
            runner = self.make(heads, d, seed=seed, **options)
            runner.step((45, 1, 20), 70, 4)
            runner.step((1, 30, 1), 32, 4)
            runner.step((9, 9, 9), causal=False)

    def pages(self):
        """Sizes of pages, and orders of the dimensions of a cache in memory."""
        for seed, (order, page) in enumerate((
            ("HND", 16), ("NHD", 16), ("NHD", 48), ("blocks", 64), ("heads", 32),
            ("HND", 208),
        )):  # fmt: skip
            runner = self.make((4, 2), 64, page, order, layers=2, seed=seed)
            runner.step((page + 5, 1, 40))
            runner.step((1, 1, 1), 8, 6)

    def test_table(self):
        """Layers share a table of works, and steps its memory."""
        runner = self.make(layers=3)
        # Not only steps of few queries: the second kernel has larger tiles, and more memory.
        runner.step((300, 90, 70), 460, 6)
        size, memory = runner.count_memory(), runner.builder._schedule._memory
        # Short and long sequences have kernels of their own.
        assert len(memory) == 2, len(memory)
        for counts in ((1, 1, 1), (1, 30, 1, 64), (1, 1, 1, 1)):
            metadata = runner.step(counts, 128, 6)
            for scratch, _ in metadata.schedule._scratch.values():
                assert any(scratch is kept for kept in memory)
        assert runner.count_memory() == size

    def test_same_step_again(self):
        """Metadata of a step whose pages, or whose lengths, are others."""
        import torch

        runner = self.make()
        runner.step((60, 1, 33))
        with torch.inference_mode():
            metadata = runner.builder.build(0, runner.schedule((1, 150, 3)))
            runner.make_inputs()
            runner.run(metadata)
            runner.check()
            # The lengths are others, in the same tensors.
            runner.schedule((150, 1, 3))
            runner.make_inputs()
            runner.builder.update_draft_decode_metadata(metadata)
            runner.run(metadata)
            runner.check()
            # The same pages, by another table.
            common = runner.schedule((1, 1, 1))
            runner.make_inputs()
            before = runner.builder.build(0, common)
            other = runner.table[:3].clone()
            metadata = runner.builder.update_block_table(before, other, runner.slots)
            assert metadata.block_table is other and metadata.schedule is before.schedule
            runner.run(metadata)
            runner.check()

    def test_warm_up(self):
        """The builder loads the kernels of its layers, each once."""
        for heads in ((8, 2), (4, 4), (8, 1)):
            self._check_warm_up(self.make(heads, 64, layers=2))

    def _check_warm_up(self, runner):
        import torch
        from tile import prepared

        seen = set()
        prepared.observers.append(seen.add)
        try:
            layers = {str(i): SimpleNamespace(impl=l) for i, l in enumerate(runner.layers)}
            runner.builder.vllm_config.compilation_config.static_forward_context = layers
            runner.builder.layer_names = list(layers)
            with torch.inference_mode(), mock.patch.object(
                type(runner.layers[0]), "warm_up", autospec=True,
                side_effect=type(runner.layers[0]).warm_up,
            ) as warm_up:  # fmt: skip
                runner.builder._warm_up()
            assert warm_up.call_count == 1, warm_up.call_count
            assert len(runner.builder._schedule._memory) == 2
            warmed = set(seen)
            assert {v.pack_heads > 0 for v in warmed} == {True, False}
            assert {v.reuse_works for v in warmed} == {True, False}
            for counts in ((40, 1), (1, 1), (24, 1, 1, 1), (1, 1, 1, 1)):
                runner.step(counts)
            # vLLM records graphs of steps that have a prompt, too.
            runner.step((1, 1, 1, 1), padded=128, longest=128)
            assert all(v in warmed for v in seen if not hasattr(v, "slots")), seen
        finally:
            prepared.observers.remove(seen.add)

    def test_profiling(self):
        """Without metadata, vLLM measures memory; the result is zeros."""
        import torch

        runner = self.make()
        output = torch.ones(4, 8, 64, dtype=torch.bfloat16, device=self.device)
        q = torch.ones_like(output)
        none = torch.tensor([])
        assert runner.layers[0].forward(None, q, q, q, none, None, output) is output
        assert not output.any()

    def test_graph(self):
        """Graphs of batches that are replayed with other lengths, pages and tokens."""
        import torch

        if self.device == "cpu":
            return
        need_torch(2)
        runner = self.make(layers=2, d=128)
        runner.step((300, 1, 70, 2))
        with torch.inference_mode():
            for counts in ((1, 1, 1, 1), (20, 1, 0, 43)):
                common = runner.schedule(counts, 64, 6)
                runner.make_inputs()
                inputs, outputs = runner.inputs, runner.outputs
                metadata = runner.builder.build_for_cudagraph_capture(common)
                # The step runs once before it is recorded, with other lengths.
                lengths = runner.lengths.clone()
                runner.lengths.clamp_(max=9)
                _, graph = capture(lambda: runner.run(metadata))
                runner.lengths.copy_(lengths)
                for replay in range(4):
                    if replay:
                        runner.schedule(counts, 64, 6)
                        runner.make_inputs()
                        for to, source in zip(inputs, runner.inputs):
                            for mine, its in zip(to, source):
                                mine.copy_(its)
                        runner.inputs, runner.outputs = inputs, outputs
                    for o in outputs:
                        o.fill_(7)
                    graph.replay()
                    torch.cuda.synchronize()
                    runner.check()

    def test_layer(self):
        """vLLM's own layer, which calls the back end."""
        import torch

        interface()
        if missing:
            raise Skipped(f"vLLM cannot be imported: {missing}")
        import tile.vllm
        from vllm.config import DeviceConfig, VllmConfig, set_current_vllm_config
        from vllm.forward_context import set_forward_context
        from vllm.model_executor.layers.attention.attention import Attention

        tile.vllm.register()
        config = VllmConfig(device_config=DeviceConfig(device=self.device))
        runner = self.make()
        with set_current_vllm_config(config), torch.inference_mode():
            before = torch.get_default_dtype()
            torch.set_default_dtype(runner.kind)
            try:
                layer = Attention(
                    *(runner.heads[0], 64, 64**-0.5, runner.heads[1]), prefix="layers.0",
                    attn_backend=runner.backend.TileAttentionBackend,
                )  # fmt: skip
            finally:
                torch.set_default_dtype(before)
            assert layer.backend.name == "CUSTOM"
            layer.kv_cache = runner.caches[0]
            for counts, padded, requests in (((37, 3), 48, 2), ((1, 1), 8, 3)):
                common = runner.schedule(counts, padded, requests)
                runner.make_inputs()
                with set_forward_context(
                    {"layers.0": runner.builder.build(0, common)}, config,
                    num_tokens=runner.tokens, slot_mapping={"layers.0": common.slot_mapping},
                ):  # fmt: skip
                    o = layer(*(t.flatten(1) for t in runner.inputs[0]))
                # The layer makes its output; rows of padding hold anything.
                runner.outputs = [o.unflatten(1, (8, 64))]
                runner.outputs[0][sum(counts) :] = 7
                runner.check()

    def test_chosen(self):
        """vLLM chooses the back end by its name, or says why it cannot."""
        import types

        import torch

        interface()
        if missing:
            raise Skipped(f"vLLM cannot be imported: {missing}")
        import tile.vllm
        from vllm.platforms.interface import DeviceCapability
        from vllm.v1.attention.backends.registry import AttentionBackendEnum
        from vllm.v1.attention.selector import AttentionSelectorConfig

        # The choice needs no GPU, but the module loads vLLM's kernels.
        kernels = "vllm._C_stable_libtorch"
        try:
            importlib.import_module(kernels)
        except ImportError:
            sys.modules[kernels] = types.ModuleType(kernels)
        from vllm.platforms.cuda import NonNvmlCudaPlatform as Platform

        def choose(**options):
            given = {
                "head_size": 128, "dtype": torch.bfloat16, "kv_cache_dtype": "auto",
                "block_size": None, **options,
            }  # fmt: skip
            with mock.patch.object(
                Platform, "get_device_capability", return_value=DeviceCapability(9, 0)
            ):
                return Platform.get_attn_backend_cls(
                    AttentionBackendEnum.CUSTOM, AttentionSelectorConfig(**given)
                )

        tile.vllm.register()
        assert choose(has_sink=True, has_sliding_window=True) == tile.vllm.BACKEND
        case = TestCase()
        with case.assertRaisesRegex(ValueError, "head_size not.*kv_cache_dtype not"):
            choose(head_size=512, kv_cache_dtype="fp8")
        loaded = sys.modules.pop("tile.vllm.backend")
        try:
            with mock.patch.object(sys.modules["vllm"], "__version__", "0.34.0"):
                with case.assertRaisesRegex(ValueError, "and this is vLLM 0.34.0"):
                    choose()
        finally:
            sys.modules["tile.vllm.backend"] = loaded

    def test_refused(self):
        """Configurations that vLLM must not choose the back end for, with reasons."""
        import torch

        backend = interface().TileAttentionBackend
        kind = importlib.import_module("vllm.v1.attention.backend").AttentionType
        given = {
            "head_size": 128, "dtype": torch.bfloat16, "kv_cache_dtype": "auto",
            "block_size": 16, "use_mla": False, "has_sink": False, "use_sparse": False,
            "use_mm_prefix": False, "use_per_head_quant_scales": False,
            "device_capability": SimpleNamespace(major=9, minor=0),
            "attn_type": kind.DECODER,
        }  # fmt: skip
        for change in (
            {}, {"has_sink": True, "has_sliding_window": True}, {"block_size": 1056},
            {"use_non_causal": True}, {"use_kv_connector": True}, {"block_size": None},
            {"kv_cache_dtype": "bfloat16"}, {"head_size": 40, "dtype": torch.float16},
            {"use_adaptive_verification": True},
        ):  # fmt: skip
            reasons = backend.validate_configuration(**{**given, **change})
            assert reasons == [], (change, reasons)
        for change, words in (
            ({"kv_cache_dtype": "fp8"}, "kv_cache_dtype not"),
            ({"kv_cache_dtype": "float16"}, "queries of torch.bfloat16 and a cache of float16"),
            ({"head_size": 512}, "head_size not"),
            ({"head_size": 100}, "head_size not"),
            ({"dtype": torch.float32}, "dtype not"),
            ({"block_size": 8}, "block_size not"),
            ({"use_mla": True}, "MLA not"),
            ({"use_sparse": True}, "sparse not"),
            ({"use_mm_prefix": True}, "multimodal"),
            ({"use_per_head_quant_scales": True}, "quant scales not"),
            ({"device_capability": SimpleNamespace(major=7, minor=5)}, "capability not"),
            ({"attn_type": kind.ENCODER_ONLY}, "attention type"),
            ({"use_batch_invariant": True}, "batch invariance not"),
            ({"use_pcp": True}, "PCP not"),
            ({"use_dcp": True}, "DCP not"),
            ({"use_rswa": True}, "R-SWA not"),
        ):
            (reason,) = backend.validate_configuration(**{**given, **change})
            assert words in reason, (change, reason)
        with mock.patch.object(torch.version, "hip", "7.0"):
            (reason,) = backend.validate_configuration(**given)
        assert "NVIDIA GPUs only" in reason, reason

    def test_errors(self):
        """What the hooks cannot refuse is an error with a reason."""
        import tile
        import torch

        runner = self.make()
        implementation = type(runner.layers[0])
        kind = importlib.import_module("vllm.v1.attention.backend").AttentionType
        output = torch.empty(3)
        with torch.inference_mode():
            common = runner.schedule((3,))
        causal = torch.ones(1, dtype=torch.int32)
        for words, call in (
            ("alibi_slopes is not supported by tile",
             lambda: implementation(4, 64, 0.1, 2, alibi_slopes=[1.0] * 4)),
            ("chunk_lookback is not supported by tile",
             lambda: implementation(4, 64, 0.1, 2, chunk_lookback=3)),
            ("kv_cache_dtype is fp8, which is not",
             lambda: implementation(4, 64, 0.1, 2, kv_cache_dtype="fp8")),
            ("attention of decoders only",
             lambda: implementation(4, 64, 0.1, 2, attn_type=kind.ENCODER)),
            ("a quantized output is not supported by tile",
             lambda: runner.layers[0].forward(
                 None, output, output, output, output, None, output, output)),
            ("causal is a tensor",
             lambda: runner.builder.build(
                 0, SimpleNamespace(**{**vars(common), "causal": causal}))),
        ):  # fmt: skip
            try:
                call()
            except tile.ArgumentError as error:
                assert words in str(error), (words, str(error))
            else:
                raise AssertionError(f"accepted what must be refused: {words}")

    def test_register(self):
        """The plugin makes tile the back end CUSTOM; what is in its way is reported."""
        interface()
        import tile.vllm

        registry = importlib.import_module("vllm.v1.attention.backends.registry")
        custom = registry.AttentionBackendEnum.CUSTOM
        custom.clear_override()
        for _ in range(2):
            tile.vllm.register()
            assert custom.get_path() == tile.vllm.BACKEND
        module, name = tile.vllm.BACKEND.rsplit(".", 1)
        assert getattr(importlib.import_module(module), name).get_name() == custom.name
        case = TestCase()
        registry.register_backend(custom, "another.plugin.Backend")
        with case.assertLogs("tile.vllm", "WARNING") as logs:
            tile.vllm.register()
        assert "CUSTOM is another.plugin.Backend, not tile" in logs.output[0], logs.output
        assert custom.get_path() == "another.plugin.Backend"
        custom.clear_override()
        with mock.patch.dict(sys.modules, {registry.__name__: None}):
            with case.assertLogs("tile.vllm", "WARNING") as logs:
                tile.vllm.register()
        assert "another interface than vLLM 0.33.0" in logs.output[0], logs.output
        tile.vllm.check_version("0.33.0+cu130")
        for version in ("0.32.0", "0.33.1", "0.34.0", "dev"):
            try:
                tile.vllm.check_version(version)
            except ImportError as error:
                assert f"and this is vLLM {version}" in str(error), error
            else:
                raise AssertionError(f"no error for {version}")

    def test_interface(self):
        """The classes that stand for vLLM's are like them."""
        interface()
        if missing:
            raise Skipped(f"vLLM cannot be imported: {missing}")
        import vllm_interface

        found = vllm_interface.differences()
        assert not found, found


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
