#!/usr/bin/env python3
"""Test of tile.attention_with_kvcache against float64.

Rows of the caches that hold no key are NaN, and entries of the table behind the
lengths are no pages: whatever reads them shows.

    kv_cache.py                       # on the GPU at hand, else on the CPU
    kv_cache.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import os
import sys
import weakref
from math import prod
from unittest import mock

import cpu_chips
from language_model import Decoder, causal_attention
from tensor_tests import Suite, capture, main, need_torch

#: Entries of tables that must not be read.
GARBAGE = 2147480000

#: Queries and keys of FlashAttention-3's test of its function.
LENGTHS = (
    (1, 128), (1, 339), (3, 1024), (64, 800), (64, 256), (3, 799), (64, 2048),
    (16, 20000), (128, 128), (256, 512), (2048, 3577),
)  # fmt: skip


class Cache:
    """Keys and values of sequences, and a cache that holds them."""

    def __init__(self, suite, lengths, room, heads, d, dv, dtype, page, seed):
        import torch

        self.k, self.v = (
            [suite.normal((n, heads, e), dtype, seed + i).detach() for i, n in enumerate(lengths)]
            for e in (d, dv)
        )
        device = suite.device
        kind = getattr(torch, dtype)
        self.seqlens = torch.tensor(lengths, dtype=torch.int32, device=device)
        batch = len(lengths)
        if page is None:
            shape, self.table = (batch, room), None
        else:
            entries = -(-room // page)
            shape = (batch * entries + 3, page)
            generator = torch.Generator().manual_seed(seed)
            order = torch.randperm(shape[0], generator=generator)[: batch * entries]
            self.table = order.reshape(batch, entries).int().to(device)
        self.page = page
        self.k_cache, self.v_cache = (
            torch.full((*shape, heads, e), float("nan"), dtype=kind, device=device)
            for e in (d, dv)
        )
        for b, n in enumerate(lengths):
            for cache, rows in ((self.k_cache, self.k[b]), (self.v_cache, self.v[b])):
                if page is None:
                    cache[b, :n] = rows
                    continue
                for i in range(-(-n // page)):
                    part = rows[i * page : (i + 1) * page]
                    cache[self.table[b, i], : part.shape[0]] = part

    def list_pages(self, new=0):
        """Returns FlashInfer's tables: bounds of lists of pages, the lists, and the keys
        of last pages, `new` keys among them. Entries of no list are no pages."""
        import torch

        lengths = [n + new for n in self.seqlens.tolist()]
        counts = [-(-n // self.page) for n in lengths]
        bounds = [2]
        indices = [torch.full((2,), GARBAGE, device=self.table.device)]
        for b, count in enumerate(counts):
            bounds.append(bounds[-1] + count)
            indices.append(self.table[b, :count])
        indices.append(torch.full((5,), GARBAGE, device=self.table.device))
        last = [n - (c - 1) * self.page if n else 0 for n, c in zip(lengths, counts)]
        return {
            "kv_indptr": torch.tensor(bounds, dtype=torch.int32, device=self.table.device),
            "kv_indices": torch.cat(indices).int(),
            "kv_last_page_len": self.seqlens.new_tensor(last),
        }

    def spoil(self, new=0):
        """Replaces the entries of the table that no key needs."""
        if self.table is not None:
            for b, n in enumerate(self.seqlens.tolist()):
                self.table[b, -(-(n + new) // self.page) :] = GARBAGE


class Tests(Suite):
    """The tests of attention over caches."""

    def tests(self):
        names = (
            "decode", "chunks", "features", "mixed", "works", "append", "lists", "trees",
        )  # fmt: skip
        on_cpu = self.device == "cpu"
        pairs = cpu_chips.pairs(names) if on_cpu else [(name, "") for name in names]
        found = {
            f"{name} {chip}".rstrip(): lambda f=getattr(self, name), c=chip: f(c)
            for name, chip in pairs
        }
        return {**found, **super().tests()}

    def blank(self, shape):
        """Returns a cache without keys."""
        import torch

        return torch.full(shape, float("nan"), dtype=torch.bfloat16, device=self.device)

    def check(self, q, cache, out, bounds=None, slack=None, new=None, **options):
        """Compares the results for all sequences with float64."""
        import torch
        from tile import testing

        o, lse = out
        sink = options.get("learnable_sink")
        trees = options.get("trees")
        named = {
            "causal": options.get("causal", False),
            "window": options.get("window_size"),
            "softcap": options.get("softcap") or None,
        }
        scale = q.shape[-1] ** -0.5
        for b, (k, v) in enumerate(zip(cache.k, cache.v)):
            rows = slice(*bounds[b : b + 2]) if bounds else b
            one = q[rows] if bounds is None else q[rows]
            found = o[rows]
            sums = lse[b] if bounds is None else lse[:, rows]
            if new is not None:
                k, v = torch.cat((k, new[0][b])), torch.cat((v, new[1][b]))
            if not one.numel():
                continue
            inputs = one[None], k[None], v[None]
            if trees is not None:
                named["tree"] = trees[b]
            exact, exact_lse = testing.attention(*inputs, scale, sink=sink, **named)
            low, _ = testing.attention(*inputs, scale, dtype=q.dtype, sink=sink, **named)
            result = testing.compare(found[None], exact, low)
            assert result.ok, f"sequence {b}: o: {result}"
            result = testing.compare_lse(sums[None], exact_lse)
            assert result.ok, f"sequence {b}: lse: {result}"

    def run_one(self, chip, sq, lengths, heads, page, d=128, dv=None, dtype="bfloat16",
                seed=0, room=0, seqlens=None, **options):  # fmt: skip
        """Returns the tensor of the lengths, which is `seqlens` if that is given."""
        import tile

        os.environ["TILE_CPU_CHIP"] = chip
        room = room or max(max(lengths), 1) + 37
        cache = Cache(self, lengths, room, heads[1], d, dv or d, dtype, page, seed)
        cache.spoil()
        if seqlens is None:
            seqlens = cache.seqlens
        elif seqlens.tolist() != list(lengths):
            seqlens.copy_(cache.seqlens)
        q = self.normal((len(lengths), sq, heads[0], d), dtype, seed + 99).detach()
        out = tile.attention_with_kvcache(
            q, cache.k_cache, cache.v_cache, cache_seqlens=seqlens,
            page_table=cache.table, return_softmax_lse=True, **options,
        )  # fmt: skip
        self.check(q, cache, out, **options)
        return seqlens

    def decode(self, chip):
        """One query: dense caches and pages of any size, blocks that share the keys."""
        for seed, page in enumerate((None, 1, 4, 16, 48, 64, 256)):
            long = 300 if self.device == "cpu" else 3000
            for splits in (1, 3):
                self.run_one(chip, 1, (long, 1, 0, 137), (8, 2), page, seed=seed,
                             num_splits=splits, causal=True)  # fmt: skip

    def chunks(self, chip):
        """Several queries at the ends of the keys."""
        if self.device == "cpu":
            cases = (3, 150), (70, 150), (17, 9)
        else:
            cases = LENGTHS
        for seed, (sq, sk) in enumerate(cases):
            for heads in ((6, 6), (6, 1)) if seed % 2 else ((6, 3),):
                for page in (None, 16) if self.device == "cpu" else (None, 1, 4, 16, 128):
                    self.run_one(chip, sq, (sk, sk // 3), heads, page, seed=seed,
                                 causal=seed % 3 != 1)  # fmt: skip

    def features(self, chip):
        """Sinks, windows, softcaps, and other head dimensions."""
        import torch

        cases = (
            (64, 64, {"window_size": (40, 0)}),
            (64, 64, {"window_size": (-1, 5), "softcap": 4.0}),
            (96, 96, {"causal": True, "sink": True}),
            (192, 128, {"causal": True}),
            (256, 256, {}),
            (40, 24, {"causal": True, "window_size": (100, -1), "sink": True}),
        )
        for seed, (d, dv, options) in enumerate(cases):
            heads = ((4, 2), (8, 1), (3, 3))[seed % 3]
            options = dict(options)
            if options.pop("sink", False):
                options["learnable_sink"] = self.normal(
                    (heads[0],), "float32", seed
                ).detach()
            dtype = "float16" if seed % 2 else "bfloat16"
            for sq, page in ((1, 16), (5, None), (33, 16)):
                with torch.no_grad():
                    self.run_one(chip, sq, (190, 64, 5), heads, page, d, dv, dtype, seed,
                                 **options)  # fmt: skip

    def mixed(self, chip):
        """Packed queries: chunks of prompts, steps of decoding, and empty sequences."""
        import tile

        os.environ["TILE_CPU_CHIP"] = chip
        counts, lengths = (1, 70, 0, 3, 1), (150, 190, 40, 3, 0)
        for page in (None, 8, 16):
            for splits in (0, 1, 2):
                cache = Cache(self, lengths, 200, 2, 128, 128, "bfloat16", page, 7)
                cache.spoil()
                q = self.normal((sum(counts), 4, 128), "bfloat16", 3).detach()
                bounds = self.sequences(counts)
                # With a table of works, it only chooses a kernel.
                longest = 1 if page is None and not splits else max(counts)
                out = tile.attention_with_kvcache(
                    q, cache.k_cache, cache.v_cache, cache_seqlens=cache.seqlens,
                    page_table=cache.table, cu_seqlens_q=bounds,
                    max_seqlen_q=longest, causal=True, num_splits=splits,
                    return_softmax_lse=True,
                )  # fmt: skip
                self.check(q, cache, out, bounds.tolist(), causal=True)

    def works(self, chip):
        """A table of works that several calls share: masks, sinks, and any heads."""
        import tile

        os.environ["TILE_CPU_CHIP"] = chip
        cases = (
            (1, (8, 2), 128, {"causal": True}),
            (20, (3, 3), 64, {"window_size": (50, 0), "sink": True}),
            (3, (6, 1), 96, {"window_size": (-1, 5), "softcap": 4.0, "sink": True}),
            (9, (4, 2), 192, {}),
        )
        for seed, (sq, heads, d, options) in enumerate(cases):
            options = dict(options)
            if options.pop("sink", False):
                sink = self.normal((heads[0],), "float32", seed).detach()
                options["learnable_sink"] = sink
            metadata, given, tables = tile.SchedulerMetadata(), None, []
            # Two layers with the same lengths, and one after they have changed.
            for layer, lengths in enumerate(((400, 0, 1, 130),) * 2 + ((9, 300, 0, 7),)):
                given = self.run_one(
                    chip, sq, lengths, heads, 16 if seed % 2 else None, d, room=440,
                    seed=10 * seed + layer, seqlens=given, scheduler_metadata=metadata,
                    **options,
                )  # fmt: skip
                ((scratch, _),) = metadata._scratch.values()
                tables.append(scratch)
            assert tables[0] is tables[1] and tables[1] is not tables[2]

    def lists(self, chip):
        """FlashInfer's tables and caches: one list of pages, one tensor, either layout."""
        import tile
        import torch

        os.environ["TILE_CPU_CHIP"] = chip
        long = 300 if self.device == "cpu" else 3000
        for seed, page in enumerate((1, 5, 16, 64)):
            cache = Cache(self, (long, 1, 0, 2 * page, 137), long, 2, 64, 64, "bfloat16", page, seed)
            tables = cache.list_pages()
            both, layout = torch.stack((cache.k_cache, cache.v_cache), 1), "NHD"
            if seed % 2:
                both, layout = both.transpose(2, 3).contiguous(), "HND"
            for sq, options in (
                (1, {"num_splits": 1}), (3, {"num_splits": 3, "window_size": (70, -1)}),
                (1, {"scheduler_metadata": tile.SchedulerMetadata()}),
            ):  # fmt: skip
                q = self.normal((5, sq, 8, 64), "bfloat16", seed + 9).detach()
                out = tile.attention_with_kvcache(
                    q, both, **tables, kv_layout=layout, causal=True,
                    return_softmax_lse=True, **options,
                )  # fmt: skip
                self.check(q, cache, out, causal=True, **options)
            counts = (70, 1, 0, 3, 1)
            q, bounds = self.normal((75, 8, 64), "bfloat16", 3).detach(), self.sequences(counts)
            out = tile.attention_with_kvcache(
                q, both, **tables, kv_layout=layout, causal=True, cu_seqlens_q=bounds,
                return_softmax_lse=True,
            )  # fmt: skip
            self.check(q, cache, out, bounds.tolist(), causal=True)

    def make_trees(self, batch, nodes, seed):
        """Returns which nodes each node of random trees is below, and itself."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        seen = torch.eye(nodes, dtype=torch.bool).repeat(batch, 1, 1)
        for b in range(batch):
            for node in range(1, nodes):
                parent = int(torch.randint(node, (1,), generator=generator))
                seen[b, node] |= seen[b, parent]
        return seen.to(self.device)

    def trees(self, chip):
        """Drafts that form a tree: each sees the keys before, and the nodes above it."""
        import tile
        import torch

        os.environ["TILE_CPU_CHIP"] = chip
        cases = (
            (2, (8, 2), 128, None, {}),
            (7, (6, 1), 64, 16, {"num_splits": 3, "causal": True}),
            (33, (4, 2), 64, 16, {"num_splits": 2, "softcap": 4.0}),
            (64, (2, 2), 96, None, {"window_size": (90, -1)}),
            (16, (8, 1), 128, 8, {"scheduler_metadata": tile.SchedulerMetadata()}),
        )
        lengths = (200, 0, 5, 131, 64)
        for seed, (sq, heads, d, page, options) in enumerate(cases):
            cache = Cache(self, lengths, 230, heads[1], d, d, "bfloat16", page, seed)
            cache.spoil()
            trees = self.make_trees(len(lengths), sq, seed)
            q = self.normal((len(lengths), sq, heads[0], d), "bfloat16", seed + 9).detach()
            out = tile.attention_with_kvcache(
                q, cache.k_cache, cache.v_cache, cache_seqlens=cache.seqlens,
                page_table=cache.table, tree_mask=tile.pack_tree_mask(trees),
                return_softmax_lse=True, **options,
            )  # fmt: skip
            self.check(q, cache, out, trees=trees, **options)
        # Trees of different sizes, in packed rows.
        counts = (20, 3, 0, 40, 1)
        cache = Cache(self, lengths, 230, 2, 64, 64, "float16", 16, 5)
        trees = [self.make_trees(1, n, n)[0] for n in counts]
        words = torch.cat([
            tile.pack_tree_mask(torch.nn.functional.pad(tree, (0, 64 - tree.shape[0])))
            for tree in trees
        ])  # fmt: skip
        q, bounds = self.normal((64, 8, 64), "float16", 3).detach(), self.sequences(counts)
        out = tile.attention_with_kvcache(
            q, cache.k_cache, cache.v_cache, **cache.list_pages(), cu_seqlens_q=bounds,
            tree_mask=words, return_softmax_lse=True,
        )  # fmt: skip
        self.check(q, cache, out, bounds.tolist(), trees=trees)

    def test_pack_tree_mask(self):
        """The bits of words, the highest among them."""
        import tile
        import torch

        mask = torch.zeros(2, 33, dtype=torch.bool, device=self.device)
        mask[0, [0, 31]] = mask[1, [5, 32]] = True
        expected = [[1 - 2**31, 0], [32, 1]]
        assert tile.pack_tree_mask(mask).tolist() == expected
        try:
            tile.pack_tree_mask(mask.int())
        except tile.ArgumentError as error:
            assert "torch.bool" in str(error)
        else:
            raise AssertionError("no error")

    def test_table_of_works(self):
        """The works of many sequences: each tile has all parts of its keys, once."""
        import tile
        import torch

        generator = torch.Generator().manual_seed(0)
        batch, page = 300, 16
        counts = torch.randint(0, 3, (batch,), generator=generator)
        counts[[3, 7]] = torch.tensor([2, 130])
        lengths = torch.randint(0, 60, (batch,), generator=generator)
        lengths[[3, 7]] = torch.tensor([700, 900])
        os.environ["TILE_CPU_CHIP"] = "sm_80"
        table = torch.zeros((batch, 64), dtype=torch.int32, device=self.device)
        pages = torch.zeros((1, page, 1, 8), dtype=torch.float16, device=self.device)
        q = self.normal((int(counts.sum()), 8, 8), "float16", 1).detach()
        metadata = tile.SchedulerMetadata()
        tile.attention_with_kvcache(
            q, pages, pages, cache_seqlens=lengths.int().to(self.device),
            page_table=table, cu_seqlens_q=self.sequences(counts.tolist()),
            causal=True, scheduler_metadata=metadata,
        )  # fmt: skip
        kernels = []
        for call, (scratch, _) in metadata._scratch.items():
            layouts, offsets = call._scratch.layouts, call._scratch.offsets
            shape = layouts["works"].shape
            table = scratch.view(torch.int32)[offsets["works"] // 4 :][: prod(shape)]
            least, most = call.signature.least_q, call.signature.most_q
            kernels.append((least, most))
            bounded = [n if least <= n <= most else 0 for n in counts.tolist()]
            self._check_works(
                table.view(shape).tolist(), bounded, lengths.tolist(),
                layouts["o_parts"].shape[0],
            )  # fmt: skip
        # Sequences of steps have a kernel of their own, sequence 7 has the other.
        (least, _), (_, most) = kernels
        assert least == most + 1 and most < 130, kernels

    def _check_works(self, table, counts, lengths, room) -> None:
        count, tiles, most = table[0][:3]
        works, shared = table[1 : count + 1], table[len(table) - tiles :][::-1]
        # The second tile of the longest sequence begins behind the queries of one.
        longest = max(range(len(counts)), key=counts.__getitem__)
        firsts = sorted({first for b, first, *_ in works if b == longest})
        queries = firsts[1] if len(firsts) > 1 else counts[longest]
        assert 0 < tiles and count + tiles < len(table)
        found, used = {}, []
        for b, first, part, parts, row in works:
            found.setdefault((b, first), []).append((part, parts, row))
            if parts > 1:
                used.extend(range(row, row + min(queries, counts[b])))
        assert most == max(min(queries, counts[b]) for b, *_ in shared)
        assert sorted(used) == list(range(len(used))) and len(used) <= room
        expected = {(b, first) for b, n in enumerate(counts) for first in range(0, n, queries)}
        assert set(found) == expected
        for (b, _), places in found.items():
            _, parts, row = places[0]
            step = min(queries, counts[b])
            assert places == [(p, parts, row + p * step) for p in range(parts)]
        assert [tuple(tile) for tile in shared] == [
            (b, first, 0, parts, row)
            for b, first, part, parts, row in sorted(works, key=lambda work: work[4])
            if part == 0 and parts > 1
        ]
        # The works that take most steps come first, whatever a step has of keys.
        assert any(
            costs == sorted(costs, reverse=True)
            for keys in range(16, 257, 16)
            for costs in [[-(-lengths[b] // (keys * p)) for b, _, _, p, _ in works]]
        )

    def test_tiles_of_packed_batches(self):
        """Steps of decoding have small tiles and heads as rows, beside a chunk, too."""
        import tile
        import torch
        from tile import prepared

        os.environ["TILE_CPU_CHIP"] = "sm_90a"
        kernels_of, variants = prepared.kernels_of, []

        def find(variant, device):
            variants.append(variant)
            return kernels_of(variant, device)

        few, chunk = (8, 16), (0, 0)
        for counts, expected in (
            ((1, 1, 0, 1), [(8, 8)]), ((2, 1, 2, 0), [few]), ((5, 1, 2, 0), [(8, 64)]),
            ((70, 1, 1, 1), [chunk, few]), ((9, 1, 1, 1), [(8, 0), few]),
            ((70, 70, 1, 1), [(8, 0)]),
        ):  # fmt: skip
            lengths = torch.tensor([90, 17, 33, 300], dtype=torch.int32, device=self.device)
            cache = self.normal((4, 320, 1, 64), "float16", 3).detach()
            q = self.normal((sum(counts), 8, 64), "float16", 4).detach()
            results = []
            for most in (max(counts), None):
                variants.clear()
                with mock.patch.object(prepared, "kernels_of", find):
                    results.append(tile.attention_with_kvcache(
                        q, cache, cache, cache_seqlens=lengths, causal=True,
                        cu_seqlens_q=self.sequences(counts), max_seqlen_q=most,
                    ))  # fmt: skip
                if most is not None:
                    found = [
                        (used.pack_heads, used.few_rows) for used in variants
                        if used.works and not used.reuse_works
                    ]  # fmt: skip
                    assert found == expected, (counts, variants)
            assert torch.allclose(*(o.float() for o in results), atol=2e-3)

    def test_rounds_of_works(self):
        """So many works that the blocks of the last round have several."""
        import tile

        for chip, sequences, heads in (("sm_90a", 300, 2), ("gfx1200", 65, 128)):
            self.run_one(
                chip, 1, [1 + 7 * i % 10 for i in range(sequences)], (2 * heads, heads), None,
                16, room=10, causal=True, scheduler_metadata=tile.SchedulerMetadata(),
            )  # fmt: skip

    def test_memory_of_kernels(self):
        """Kernels that run at the same time have scratch memory of their own."""
        import tile
        import torch
        from tile import prepared

        os.environ["TILE_CPU_CHIP"] = "sm_90a"
        allocate, found = prepared._Scratch.allocate, []

        def record(scratch, memory=None):
            assert all(used() is not None for used in found), "the first memory is free"
            result = allocate(scratch, memory)
            found.append(weakref.ref(result[0]))
            return result

        cache = self.normal((4, 330, 1, 64), "float16", 3).detach()
        q = self.normal((73, 8, 64), "float16", 4).detach()
        lengths = torch.tensor([90, 17, 33, 300], dtype=torch.int32, device=self.device)
        with mock.patch.object(prepared._Scratch, "allocate", record):
            tile.attention_with_kvcache(
                q, cache, cache, cache_seqlens=lengths, causal=True,
                cu_seqlens_q=self.sequences((70, 1, 1, 1)), max_seqlen_q=70,
            )  # fmt: skip
        assert len(found) == 2

    def test_renewed_metadata(self):
        """Steps in inference mode, where lengths change unseen, share memory."""
        import tile
        import torch

        metadata, given, found = tile.SchedulerMetadata(), None, []
        with torch.inference_mode():
            for lengths in ((400, 0, 1), (9, 300, 7), (401, 1, 2)):
                for layer in range(2):
                    given = self.run_one(
                        "sm_80", 1, lengths, (8, 2), 16, room=440, seed=layer,
                        seqlens=given, scheduler_metadata=metadata, causal=True,
                    )  # fmt: skip
                ((scratch, _),) = metadata._scratch.values()
                found.append(scratch)
                metadata = metadata.renew()
            assert found[0] is found[1] is found[2] and len(metadata._memory) == 1
            # Kernels of one step do not share memory, and those of the next take it.
            for memories in ((1, 2, 3), (3, 3, 3)):
                for heads, count in zip((4, 8, 16), memories):
                    self.run_one("sm_80", 1, (40, 30, 9), (heads, 2), 16, seqlens=given,
                                 scheduler_metadata=metadata, causal=True)  # fmt: skip
                    assert len(metadata._memory) == count, len(metadata._memory)
                metadata = metadata.renew()

    def append(self, chip):
        """New keys and values are written to the cache and attended to."""
        import tile
        import torch

        os.environ["TILE_CPU_CHIP"] = chip
        for page in (None, 4, 16):
            cache = Cache(self, (30, 0, 15), 64, 2, 64, 64, "float16", page, 5)
            cache.spoil(new=3)
            q = self.normal((3, 3, 4, 64), "float16", 1).detach()
            new = [self.normal((3, 3, 2, 64), "float16", i).detach() for i in (2, 3)]
            out = tile.attention_with_kvcache(
                q, cache.k_cache, cache.v_cache, *new, cache_seqlens=cache.seqlens,
                page_table=cache.table, causal=True, return_softmax_lse=True,
            )  # fmt: skip
            self.check(q, cache, out, causal=True, new=new)
            if page is None:
                continue
            both = torch.stack((cache.k_cache, cache.v_cache), 1)
            for b, n in enumerate((30, 0, 15)):
                for row in range(n, n + 3):
                    both[cache.table[b, row // page], :, row % page] = float("nan")
            out = tile.attention_with_kvcache(
                q, both, None, *new, **cache.list_pages(new=3), causal=True,
                return_softmax_lse=True,
            )  # fmt: skip
            self.check(q, cache, out, causal=True, new=new)

    def test_batch_index(self):
        """Sequences in rows of a cache that has more."""
        import tile
        import torch

        cache = Cache(self, (40, 9), 64, 2, 64, 64, "float16", None, 5)
        rows = torch.tensor([3, 1], dtype=torch.int32, device=self.device)
        k, v = (
            torch.full((5, *t.shape[1:]), float("nan"), dtype=t.dtype, device=t.device)
            for t in (cache.k_cache, cache.v_cache)
        )
        k[rows.long()], v[rows.long()] = cache.k_cache, cache.v_cache
        q = self.normal((2, 1, 4, 64), "float16", 1).detach()
        out = tile.attention_with_kvcache(
            q, k, v, cache_seqlens=cache.seqlens, cache_batch_idx=rows,
            return_softmax_lse=True,
        )  # fmt: skip
        self.check(q, cache, out)

    def test_strides(self):
        """Caches that are views: heads first, and keys beside values."""
        import tile
        import torch

        for heads_first in (False, True):
            cache = Cache(self, (70, 33), 80, 2, 64, 64, "bfloat16", 16, 5)
            both = torch.stack((cache.k_cache, cache.v_cache), 1)
            if heads_first:
                both = both.transpose(2, 3).contiguous().transpose(2, 3)
            q = self.normal((2, 1, 8, 64), "bfloat16", 1).detach()
            out = tile.attention_with_kvcache(
                q, both[:, 0], both[:, 1], cache_seqlens=cache.seqlens,
                page_table=cache.table, return_softmax_lse=True,
            )  # fmt: skip
            self.check(q, cache, out)

    def test_graph(self):
        """A graph that was recorded with other lengths and pages."""
        import tile
        import torch

        if self.device == "cpu":
            return
        need_torch(2)
        cache = Cache(self, (700, 30), 2048, 2, 128, 128, "bfloat16", 16, 5)
        other = Cache(self, (41, 2000), 2048, 2, 128, 128, "bfloat16", 16, 6)
        q = self.normal((2, 1, 8, 128), "bfloat16", 1).detach()
        out, graph = capture(lambda: tile.attention_with_kvcache(
            q, cache.k_cache, cache.v_cache, cache_seqlens=cache.seqlens,
            page_table=cache.table, causal=True, return_softmax_lse=True,
        ))  # fmt: skip
        for mine, its in (
            (cache.k_cache, other.k_cache), (cache.v_cache, other.v_cache),
            (cache.table, other.table), (cache.seqlens, other.seqlens),
        ):  # fmt: skip
            mine.copy_(its)
        q.copy_(self.normal(q.shape, "bfloat16", 2).detach())
        graph.replay()
        torch.cuda.synchronize()
        self.check(q, other, out, causal=True)

    def test_graph_of_lists(self):
        """A graph that was recorded with other lists of pages and other trees."""
        import tile
        import torch

        if self.device == "cpu":
            return
        need_torch(2)
        caches = [
            Cache(self, lengths, 2048, 2, 128, 128, "bfloat16", 16, seed)
            for seed, lengths in ((5, (700, 30)), (6, (41, 2000)))
        ]  # fmt: skip
        lists = [cache.list_pages() for cache in caches]
        size = max(tables["kv_indices"].numel() for tables in lists)
        for tables in lists:
            missing = size - tables["kv_indices"].numel()
            tables["kv_indices"] = torch.nn.functional.pad(
                tables["kv_indices"], (0, missing), value=GARBAGE
            )
        trees = [self.make_trees(2, 5, seed) for seed in (1, 2)]
        words = [tile.pack_tree_mask(tree) for tree in trees]
        q = self.normal((2, 5, 8, 128), "bfloat16", 1).detach()
        mine, other = caches
        out, graph = capture(lambda: tile.attention_with_kvcache(
            q, mine.k_cache, mine.v_cache, **lists[0], tree_mask=words[0],
            return_softmax_lse=True,
        ))  # fmt: skip
        for to, source in (
            (mine.k_cache, other.k_cache), (mine.v_cache, other.v_cache), words,
            *((lists[0][name], lists[1][name]) for name in lists[0]),
        ):  # fmt: skip
            to.copy_(source)
        q.copy_(self.normal(q.shape, "bfloat16", 2).detach())
        graph.replay()
        torch.cuda.synchronize()
        self.check(q, other, out, trees=trees[1])

    def test_decoder(self):
        """A language model: prompts, then steps over pages, on a GPU as a graph."""
        import tile
        import torch

        os.environ["TILE_CPU_CHIP"] = "sm_90a"
        model, prompts = Decoder(self), (17, 1, 40)
        steps, page = (6, 8) if self.device == "cpu" else (256, 16)
        batch, entries = len(prompts), -(-(max(prompts) + steps + 1) // page)
        order = torch.randperm(batch * entries, generator=torch.Generator().manual_seed(1))
        table = order.reshape(batch, entries).int().to(self.device)
        shape = (batch * entries, page, model.KV_HEADS, model.D)
        caches = [
            [self.blank(shape), self.blank(shape)] for _ in range(model.LAYERS)
        ]
        lengths = torch.zeros(batch, dtype=torch.int32, device=self.device)

        def attend(rows):
            return lambda i, q, k, v: tile.attention_with_kvcache(
                q, *caches[i], k, v, cache_seqlens=lengths[rows], page_table=table[rows],
                causal=True,
            )  # fmt: skip

        words = torch.randint(
            model.WORDS, (batch, max(prompts)), generator=torch.Generator().manual_seed(2)
        ).to(self.device)
        tokens = torch.zeros(batch, 1, dtype=torch.long, device=self.device)
        logits = [[] for _ in prompts]
        for b, n in enumerate(prompts):
            places = torch.arange(n, device=self.device)[None]
            found = model.run(words[b : b + 1, :n], places, attend(slice(b, b + 1)))
            logits[b].append(found[0])
            tokens[b] = found[0, -1].argmax()
            lengths[b] = n
        texts = [[words[b, :n], tokens[b].clone()] for b, n in enumerate(prompts)]

        def step():
            found = model.run(tokens, lengths[:, None].long(), attend(slice(None)))
            tokens.copy_(found.argmax(-1))
            lengths.add_(1)
            return found

        if self.device == "cpu":
            found, replay = None, step
        else:
            # Recording runs the step once before, and not while it records.
            kept = tokens.clone(), lengths.clone()
            found, graph = capture(step)
            tokens.copy_(kept[0]), lengths.copy_(kept[1])
            replay = graph.replay
        for _ in range(steps):
            result = replay()
            result = found if result is None else result
            for b in range(batch):
                logits[b].append(result[b].clone())
                texts[b].append(tokens[b].clone())
        for mine, text in zip(logits, texts):
            text, mine = torch.cat(text)[None], torch.cat(mine)
            places = torch.arange(text.shape[1] - 1, device=self.device)[None]
            low, exact = (
                m.run(text[:, :-1], places, causal_attention)[0].double()
                for m in (model, model.to(torch.float64))
            )
            noise = (low - exact).abs().max().item()
            error = (mine.double() - exact).abs().max().item()
            assert error <= 2 * noise, f"error {error}, PyTorch's is {noise}"
            # The chosen words are the best ones, but for rounding.
            begin = text.shape[1] - steps - 2
            best = exact[begin:].max(-1).values
            chosen = exact[begin:].gather(1, text[0, begin + 1 :, None])[:, 0]
            assert (best - chosen).max().item() <= 2 * noise

    def test_errors(self):
        """Arguments that do not fit."""
        import tile
        import torch

        cache = Cache(self, (40, 9), 64, 2, 64, 64, "float16", 16, 5)
        q = self.normal((2, 1, 4, 64), "float16", 1).detach()
        given = {
            "q": q, "k_cache": cache.k_cache, "v_cache": cache.v_cache,
            "cache_seqlens": cache.seqlens, "page_table": cache.table,
        }  # fmt: skip
        lists, no_table = cache.list_pages(), {"page_table": None, "cache_seqlens": None}
        for change, message in (
            ({"q": q.float()}, "q must be a tensor of 4 dimensions"),
            ({"k_cache": cache.k_cache[..., 1:]}, "k_cache must have dense rows"),
            ({"v_cache": cache.v_cache[:, :8]}, "shapes of the caches differ"),
            ({"page_table": cache.table.long()}, "page_table must be a torch.int32"),
            ({"page_table": cache.table[:1]}, "page_table has 1 rows, q has 2"),
            ({"page_table": None}, "the caches have 11 sequences, q has 2"),
            ({"cache_seqlens": cache.seqlens[:1]}, "cache_seqlens has 1 lengths"),
            ({"k": q}, "k and v must be given together"),
            ({"k": q, "v": q}, "k must have the shape"),
            ({"q": q[:, :, :3]}, "q has 3 heads, which is no multiple of the 2"),
            ({"rotary_cos": q}, "rotary_cos is not supported"),
            ({"num_splits": -1}, "num_splits must be an int from 0 on"),
            ({"scheduler_metadata": q}, "must be a tile.SchedulerMetadata"),
            ({"out": torch.empty(3)}, "out must be a tensor"),
            ({"cache_batch_idx": cache.seqlens}, "for caches without pages"),
            ({"v_cache": None}, "k_cache must be a tensor of 5 dimensions"),
            ({"kv_layout": "DNH"}, "kv_layout must be 'NHD' or 'HND'"),
            (lists, "cache_seqlens cannot be given beside kv_indptr"),
            ({**lists, **no_table, "k": q, "v": q}, "k must have the shape"),
            ({**lists, **no_table, "kv_indptr": None}, "kv_indptr must be a contiguous"),
            ({**lists, **no_table, "kv_indptr": cache.seqlens}, "kv_indptr has 2 elem"),
            ({**lists, **no_table, "kv_indices": q}, "kv_indices must be a contiguous"),
            (
                {**lists, **no_table, "kv_last_page_len": cache.seqlens[:1]},
                "kv_last_page_len has 1 lengths",
            ),
            ({"tree_mask": q}, "tree_mask must be a contiguous torch.int32 tensor (2, 1)"),
            (
                {"q": q.expand(2, 33, 4, 64), "tree_mask": cache.seqlens.new_zeros(2, 33, 1)},
                "tree_mask has 32 bits for each query, fewer than the 33 queries",
            ),
        ):
            try:
                tile.attention_with_kvcache(**{**given, **change})
            except tile.ArgumentError as error:
                assert message in str(error), f"{error}, expected: {message}"
            else:
                raise AssertionError(f"no error for {list(change)}: {message}")


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
