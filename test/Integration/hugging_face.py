#!/usr/bin/env python3
"""Test of tile as an attention function of Hugging Face's transformers.

    hugging_face.py                   # on the GPU at hand, else on the CPU
    hugging_face.py --device cpu      # in the executor; needs no GPU

The function itself needs PyTorch 1.13; tests of models need transformers 5.
--pack and TILE_PACK_DIR are those of autograd.py.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from unittest import mock

from tensor_tests import Skipped, Suite, main


class Tests(Suite):
    """The tests of tile.hugging_face."""

    def make(self, rows=40):
        """Returns q, k and v, [B, H, S, D]."""
        return [
            self.normal((2, heads, rows, 64), "float16", seed).detach()
            for seed, heads in enumerate((4, 2, 2))
        ]

    def test_arguments(self):
        """Arguments of the function are those of tile.attention."""
        import torch
        import tile
        from tile import hugging_face

        module = mock.Mock(is_causal=True)
        q, k, v = self.make()
        rows = [t.transpose(1, 2) for t in (q, k, v)]
        sink = self.normal((4,), "float32", 5).detach()
        for options, same in (
            ({}, {"causal": True}),
            ({"is_causal": False, "scaling": 0.2}, {"scale": 0.2}),
            (
                {"sliding_window": 9, "softcap": 5.0, "s_aux": sink},
                {"causal": True, "window": (8, 8), "softcap": 5.0, "sink": sink},
            ),
        ):
            o, weights = hugging_face.attention_forward(
                module, q, k, v, None, use_cache=True, **options
            )
            assert weights is None
            assert torch.equal(o, tile.attention(*rows, **same)), options
        bounds = self.sequences((15, 25))
        one = [t[:1] for t in (q, k, v)]
        o, _ = hugging_face.attention_forward(
            module, *one, torch.empty(0), cu_seq_lens_q=bounds, cu_seq_lens_k=bounds,
            max_length_q=25, max_length_k=25,
        )  # fmt: skip
        for part in (slice(0, 15), slice(15, 40)):
            expected = tile.attention(*(t[:1, part] for t in rows), causal=True)
            assert torch.allclose(o[:, part], expected, atol=1e-3)

    def test_refused(self):
        import torch
        import tile
        from tile import hugging_face

        module = mock.Mock(is_causal=True)
        q, k, v = self.make()
        bounds = self.sequences((40, 40))
        for words, mask, options in (
            ("dropout is 0.1", None, {"dropout": 0.1}),
            ("attention_mask is not", torch.ones(1, 1, 40, 40), {}),
            ("position_ids begin again", torch.empty(0), {}),
            ("output_attentions is not supported", None, {"output_attentions": True}),
            ("cache is not supported", None, {"cache": object()}),
            ("position_bias is not", None, {"position_bias": torch.ones(2)}),
            ("cu_seq_lens_q: .* one batch, got 2", None,
             {"cu_seq_lens_q": bounds, "cu_seq_lens_k": bounds}),
        ):  # fmt: skip
            try:
                hugging_face.attention_forward(module, q, k, v, mask, **options)
            except tile.ArgumentError as error:
                assert re.search(words, str(error)), (words, str(error))
            else:
                raise AssertionError(f"accepted what must be refused: {words}")

    def test_masks(self):
        """Masks that kernels compute give none; others are refused by name."""
        import torch
        import tile

        need_transformers()
        from tile import hugging_face
        from transformers import masking_utils as masks

        def mask(function, **options):
            sizes = {"q_length": 8, "kv_length": 8, **options}
            return hugging_face.attention_mask(mask_function=function, **sizes)

        causal = masks.causal_mask_function
        sliding = masks.sliding_window_causal_mask_function(4)
        positions = torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4]])
        indices = masks.find_packed_sequence_indices(positions)
        if hasattr(masks, "packed_sequence_compatibility_function"):
            packed = masks.packed_sequence_compatibility_function(
                sliding, positions, indices
            )
        else:  # before transformers 5
            packed = masks.and_masks(sliding, masks.packed_sequence_mask_function(indices))
        padded = torch.ones(2, 8, dtype=torch.bool)
        assert mask(causal) is None and mask(sliding, attention_mask=padded) is None
        assert mask(causal, q_length=1, q_offset=7) is None
        assert mask(masks.bidirectional_mask_function, kv_length=5) is None
        assert mask(packed).numel() == 0
        padded[0, 0] = False
        chunks = masks.chunked_causal_mask_function(4, torch.zeros(2))
        for words, function, options in (
            ("padded batches", causal, {"attention_mask": padded}),
            ("chunked_overlay is not supported", chunks, {}),
            ("or_masks is not supported", masks.or_masks(causal, sliding), {}),
            ("fixed size", causal, {"kv_length": 16}),
            ("fixed size", causal, {"q_offset": torch.zeros(1)}),
        ):
            try:
                mask(function, **options)
            except tile.ArgumentError as error:
                assert re.search(words, str(error)), (words, str(error))
            else:
                raise AssertionError(f"accepted what must be refused: {words}")

    def test_models(self):
        """Losses, gradients and generated tokens are those of eager attention."""
        import torch
        import tile

        need_transformers()
        from transformers import AutoModelForCausalLM, MistralConfig

        tile.register_with_transformers()
        config = MistralConfig(
            vocab_size=50, hidden_size=256, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, head_dim=64, sliding_window=6,
            pad_token_id=0,
        )  # fmt: skip
        torch.manual_seed(0)
        tokens = torch.randint(1, 50, (2, 21), device=self.device)
        found = {}
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        model = model.to(self.device)
        for name in ("eager", "tile"):
            model.set_attn_implementation(name)
            model.zero_grad()
            loss = model(tokens, labels=tokens, use_cache=False).loss
            loss.backward()
            gradients = [p.grad.float().norm().item() for p in model.parameters()]
            made = model.generate(tokens, max_new_tokens=3, do_sample=False)
            found[name] = loss.item(), gradients, made.shape
        eager, ours = found["eager"], found["tile"]
        assert abs(eager[0] - ours[0]) < 0.02, (eager[0], ours[0])
        for a, b in zip(eager[1], ours[1]):
            assert abs(a - b) <= 0.05 * a + 1e-3, (a, b)
        assert eager[2] == ours[2]


def need_transformers():
    if importlib.util.find_spec("transformers") is None:
        raise Skipped("no transformers")
    import transformers

    if int(transformers.__version__.split(".")[0]) < 5:
        raise Skipped(f"transformers is {transformers.__version__}, must be 5")


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
