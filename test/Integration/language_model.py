"""A small language model for tests and benchmarks of attention over caches."""


class Decoder:
    """A small language model like Llama with random weights."""

    LAYERS, WIDTH, HEADS, KV_HEADS, D, WORDS = 2, 256, 8, 2, 64, 500

    def __init__(self, suite):
        import torch

        shapes = {"words": (self.WORDS, self.WIDTH)}
        for i in range(self.LAYERS):
            shapes[f"q{i}"] = (self.WIDTH, self.HEADS * self.D)
            shapes[f"k{i}"] = shapes[f"v{i}"] = (self.WIDTH, self.KV_HEADS * self.D)
            shapes[f"o{i}"] = (self.HEADS * self.D, self.WIDTH)
            shapes[f"gate{i}"] = shapes[f"up{i}"] = (self.WIDTH, 2 * self.WIDTH)
            shapes[f"down{i}"] = (2 * self.WIDTH, self.WIDTH)
        self.weights = {
            name: (suite.normal(shape, "float32", seed).detach() / shape[0] ** 0.5)
            .to(torch.bfloat16)
            for seed, (name, shape) in enumerate(shapes.items())
        }  # fmt: skip
        self.weights["words"] *= self.WORDS**0.5

    def to(self, dtype):
        """Returns the model with weights of another type."""
        model = Decoder.__new__(Decoder)
        model.weights = {name: weight.to(dtype) for name, weight in self.weights.items()}
        return model

    def run(self, tokens, positions, attend):
        """Returns the logits of tokens [B, S] at positions [B, S]."""
        import torch

        def normal(x):
            x32 = x.float() if x.dtype == torch.bfloat16 else x
            return (x32 * (x32.square().mean(-1, keepdim=True) + 1e-6).rsqrt()).to(x.dtype)

        def rotate(x):
            half = self.D // 2
            rates = 1e4 ** (-torch.arange(half, device=x.device) / half)
            angles = positions[..., None, None] * rates
            a, b = x.float().chunk(2, -1) if x.dtype == torch.bfloat16 else x.chunk(2, -1)
            cos, sin = angles.cos().to(a.dtype), angles.sin().to(a.dtype)
            return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(x.dtype)

        weights = self.weights
        x = weights["words"][tokens]
        for i in range(self.LAYERS):
            h = normal(x)
            q, k, v = (
                (h @ weights[f"{name}{i}"]).unflatten(-1, (heads, self.D))
                for name, heads in zip("qkv", (self.HEADS, self.KV_HEADS, self.KV_HEADS))
            )
            x = x + attend(i, rotate(q), rotate(k), v).flatten(-2) @ weights[f"o{i}"]
            h = normal(x)
            gate = torch.nn.functional.silu(h @ weights[f"gate{i}"])
            x = x + (gate * (h @ weights[f"up{i}"])) @ weights[f"down{i}"]
        return normal(x) @ weights["words"].T / self.WIDTH**0.5


def causal_attention(_, q, k, v):
    """Attention of all tokens, step by step."""
    import torch

    group = q.shape[2] // k.shape[2]
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
    hidden = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)
    return (scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v).transpose(1, 2)
