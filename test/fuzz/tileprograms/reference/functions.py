"""The functions of elements, with the errors that their approximations may have."""

from __future__ import annotations

from typing import Callable, Dict, List

import numpy as np

from .values import FORMATS, Value, rounded


def stacked(values: List[Value]) -> Value:
    return Value(*(np.stack(parts, -1) for parts in zip(*((x.v, x.e) for x in values))))


def summed(x: Value, axis: int, dtype: str) -> Value:
    bits, largest, tiny = FORMATS[dtype]
    count = x.v.shape[axis]
    v, magnitude = x.v.sum(axis), np.abs(x.v).sum(axis)
    e = x.e.sum(axis)
    whole = (x.v == np.round(x.v)).all(axis) & (e == 0) & (magnitude <= 2.0**bits)
    bound = e + count * (2.0**-bits * 1.01 * (magnitude + e) + tiny)
    bound = np.where(magnitude + bound > largest, np.inf, bound)
    bound = np.where(np.isnan(v) | np.isnan(bound), np.inf, bound)
    # An infinity among finite numbers.
    bound = np.where(np.isinf(v) & (e == 0), 0.0, bound)
    if count == 1:
        return Value(v, e)
    return Value(v, np.where(whole, 0.0, bound))


def multiplied(x: Value, axis: int, dtype: str) -> Value:
    bits, largest, tiny = FORMATS[dtype]
    count = x.v.shape[axis]
    v = x.v.prod(axis)
    if count == 1:
        return Value(v, x.e.take(0, axis))
    # Partial products in any order lie between these.
    upper = (np.maximum(np.abs(x.v) + x.e, 1)).prod(axis)
    moved = (np.abs(x.v) + x.e).prod(axis) * (1 + 2.0**-bits * 1.01) ** count
    e = moved - np.abs(v) + count * tiny * upper
    e = np.where((upper > largest) | np.isnan(v) | np.isnan(e), np.inf, e)
    return Value(v, e)


# Functions of floats: (dtype, operands...) -> Value.


def add(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v + b.v, a.e + b.e, dtype)


def subtract(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v - b.v, a.e + b.e, dtype)


def multiply(dtype: str, a: Value, b: Value) -> Value:
    return rounded(a.v * b.v, product_error(a, b), dtype)


def product_error(a: Value, b: Value) -> np.ndarray:
    # 0 * inf: an exact infinity times an exact number has no error.
    left = np.where(b.e == 0, 0.0, np.abs(a.v) * b.e)
    right = np.where(a.e == 0, 0.0, np.abs(b.v) * a.e)
    both = np.where((a.e == 0) | (b.e == 0), 0.0, a.e * b.e)
    return left + right + both


def divide(dtype: str, a: Value, b: Value) -> Value:
    smallest = np.abs(b.v) - b.e
    v = a.v / b.v
    e = (a.e + np.abs(v) * b.e) / smallest
    e = np.where(smallest > 0, e, np.inf)
    return rounded(v, e, dtype, 2.5)


def fused(dtype: str, a: Value, b: Value, c: Value) -> Value:
    return rounded(a.v * b.v + c.v, product_error(a, b) + c.e, dtype, 2)


def maximum(dtype: str, a: Value, b: Value) -> Value:
    return of_two(np.maximum(a.v, b.v), a, b)


def minimum(dtype: str, a: Value, b: Value) -> Value:
    return of_two(np.minimum(a.v, b.v), a, b)


def of_two(v: np.ndarray, a: Value, b: Value) -> Value:
    return Value(v, np.where(np.isnan(v), np.inf, np.maximum(a.e, b.e)))


def monotone(
    function: Callable[[np.ndarray], np.ndarray], relative: float, absolute: float = 0.0
) -> Callable[[str, Value], Value]:
    """A function that grows or falls throughout, off by these in f32."""

    def apply(dtype: str, x: Value) -> Value:
        v = function(x.v)
        e = np.maximum(np.abs(function(x.v + x.e) - v), np.abs(function(x.v - x.e) - v))
        e = np.where(x.e == 0, 0.0, e) + relative * np.abs(v) + absolute
        e = np.where(np.isinf(v) & (x.e == 0), 0.0, e)
        return rounded(v, np.where(np.isnan(e), np.inf, e), dtype)

    return apply


def lipschitz(
    function: Callable[[np.ndarray], np.ndarray], slope: float, absolute: float
) -> Callable[[str, Value], Value]:
    """A function of bounded slope, off by `absolute` in f32."""

    def apply(dtype: str, x: Value) -> Value:
        e = slope * x.e + absolute * (1 + np.abs(x.v))
        return rounded(function(x.v), e, dtype)

    return apply


def sine(dtype: str, x: Value) -> Value:
    """Relative accuracy near 0, absolute elsewhere."""
    e = x.e + 2.0**-21 * np.minimum(np.abs(x.v), 1)
    return rounded(np.sin(x.v), e, dtype)


def exponential(scale: float) -> Callable[[str, Value], Value]:
    """2 ** (scale * x); the product is rounded to f32."""

    def apply(dtype: str, x: Value) -> Value:
        v = np.exp2(scale * x.v)
        far = scale * x.e + (np.abs(x.v) * scale * 2.0**-22 if scale != 1 else 0)
        e = v * (np.exp2(far) - 1 + 2.0**-21)
        e = np.where(np.isneginf(x.v) & (x.e == 0), 0.0, e)
        return rounded(v, np.where(np.isnan(e), np.inf, e), dtype)

    return apply


def logarithm(scale: float) -> Callable[[str, Value], Value]:
    def apply(dtype: str, x: Value) -> Value:
        smallest = x.v - x.e
        v = np.log2(x.v) * scale
        e = (np.log2(x.v / smallest) + 2.0**-21) * scale + np.abs(v) * 2.0**-21
        e = np.where(smallest > 2.0**-120, e, np.inf)
        return rounded(v, e, dtype)

    return apply


def error_function(x: np.ndarray) -> np.ndarray:
    """By the series of Abramowitz and Stegun 7.1.5, and 1 beyond 4."""
    near = np.clip(x, -4.5, 4.5)
    term = near.copy()
    total = near.copy()
    for n in range(1, 90):
        term = -term * near * near / n
        total = total + term / (2 * n + 1)
    return np.where(np.abs(x) < 4.5, total * 2 / np.sqrt(np.pi), np.sign(x))


def root(dtype: str, x: Value) -> Value:
    v = np.sqrt(x.v)
    smallest = x.v - x.e
    e = np.where(smallest > 0, x.e / (v + np.sqrt(np.maximum(smallest, 0))), np.inf)
    e = np.where((x.v == 0) & (x.e == 0), 0.0, e)
    return rounded(v, e, dtype, 4)


def inverse_root(dtype: str, x: Value) -> Value:
    smallest = x.v - x.e
    v = 1 / np.sqrt(x.v)
    e = 1 / np.sqrt(smallest) - v + v * 2.0**-20
    return rounded(v, np.where(smallest > 2.0**-120, e, np.inf), dtype)


def stepwise(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[str, Value], Value]:
    """floor and its like: unknown where the error reaches a step."""

    def apply(dtype: str, x: Value) -> Value:
        v = function(x.v)
        sure = (x.e == 0) | ((function(x.v - x.e) == v) & (function(x.v + x.e) == v))
        return Value(v, np.where(sure, 0.0, np.maximum(1.0, 2 * x.e)))

    return apply


def negate(dtype: str, x: Value) -> Value:
    return Value(-x.v, x.e)


def absolute(dtype: str, x: Value) -> Value:
    return Value(np.abs(x.v), x.e)


FUNCTIONS: Dict[str, Callable[..., Value]] = {
    "arith.addf": add,
    "arith.subf": subtract,
    "arith.mulf": multiply,
    "arith.divf": divide,
    "arith.maximumf": maximum,
    "arith.maxnumf": maximum,
    "arith.minimumf": minimum,
    "arith.minnumf": minimum,
    "arith.negf": negate,
    "math.absf": absolute,
    "math.fma": fused,
    "math.exp2": exponential(1.0),
    "math.exp": exponential(float(np.log2(np.e))),
    "math.log2": logarithm(1.0),
    "math.log": logarithm(float(np.log(2))),
    "math.sqrt": root,
    "math.rsqrt": inverse_root,
    "math.tanh": monotone(np.tanh, 2.0**-20),
    "math.sin": sine,
    "math.cos": lipschitz(np.cos, 1, 2.0**-19),
    "math.erf": lipschitz(error_function, 1.13, 2.0**-18),
    "math.atan": lipschitz(np.arctan, 1, 2.0**-18),
    "math.asinh": lipschitz(np.arcsinh, 1, 2.0**-18),
    "math.log1p": lipschitz(np.log1p, 1, 2.0**-18),
    "math.round": stepwise(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "math.floor": stepwise(np.floor),
    "math.ceil": stepwise(np.ceil),
    "math.trunc": stepwise(np.trunc),
    "math.roundeven": stepwise(np.rint),
}


# Functions of integers: (operands..., bits) -> int64, to be wrapped.


def unsigned(x: np.ndarray, bits: int) -> np.ndarray:
    return x.astype(np.uint64) & np.uint64(2**bits - 1)


def divide_signed(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


INTEGER: Dict[str, Callable[..., np.ndarray]] = {
    "arith.addi": lambda a, b, bits: a + b,
    "arith.subi": lambda a, b, bits: a - b,
    "arith.muli": lambda a, b, bits: a * b,
    "arith.andi": lambda a, b, bits: a & b,
    "arith.ori": lambda a, b, bits: a | b,
    "arith.xori": lambda a, b, bits: a ^ b,
    "arith.maxsi": lambda a, b, bits: np.maximum(a, b),
    "arith.minsi": lambda a, b, bits: np.minimum(a, b),
    "arith.maxui": lambda a, b, bits: np.where(unsigned(a, bits) > unsigned(b, bits), a, b),
    "arith.minui": lambda a, b, bits: np.where(unsigned(a, bits) < unsigned(b, bits), a, b),
    "arith.divsi": divide_signed,
    "arith.remsi": lambda a, b, bits: a - divide_signed(a, b, bits) * b,
    "arith.shli": lambda a, b, bits: a << b,
    "arith.shrsi": lambda a, b, bits: a >> b,
}

REDUCE = {
    "addi": "arith.addi",
    "muli": "arith.muli",
    "maxs": "arith.maxsi",
    "mins": "arith.minsi",
    "maxu": "arith.maxui",
    "minu": "arith.minui",
    "andi": "arith.andi",
    "ori": "arith.ori",
    "xori": "arith.xori",
}

COMPARE: Dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "oeq": np.equal,
    "one": np.not_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
