"""Measurements, as a file and as tables. Needs only Python's standard library."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from shapes import COLUMNS, Shape


@dataclass
class Measurement:
    """The measurement of one contender at one shape.

    `error` is the largest error divided by its tolerance; above 1 the result is
    wrong. `compile_seconds` is None for precompiled kernels. `load_seconds` is the
    time of the driver's first load of our kernels, None for other contenders. The
    driver compiles PTX when it loads it, unless its cache holds the result.
    """

    milliseconds: float
    tflops: float
    error: float
    compile_seconds: Optional[float] = None
    load_seconds: Optional[float] = None


@dataclass
class Row:
    """One shape, with a measurement for each contender that supports it."""

    shape: Shape
    measurements: Dict[str, Measurement] = field(default_factory=dict)


@dataclass
class Results:
    """All rows, and a description of the machine and the method."""

    machine: str
    rows: List[Row] = field(default_factory=list)

    @property
    def contenders(self) -> List[str]:
        return list(dict.fromkeys(n for row in self.rows for n in row.measurements))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> "Results":
        """Reads a file of `save`. Raises ValueError if its content is different."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            rows = [
                Row(
                    Shape(**row["shape"]),
                    {n: Measurement(**m) for n, m in row["measurements"].items()},
                )
                for row in data["rows"]
            ]
            return Results(data["machine"], rows)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{path} holds no results: {error}") from None


#: The hand-written kernels. The one for backward is only a main kernel, so it is
#: compared with our main kernel.
SPIKE, SPIKE_MAIN, OURS_MAIN = "spike", "spike main", "ours main"

#: The contenders that are no peers.
BY_HAND = (SPIKE, SPIKE_MAIN, OURS_MAIN)

#: The explanation of the main kernels, for tables.
MAIN_SCOPE = (
    f"`{OURS_MAIN}` and `{SPIKE_MAIN}` are the main kernel of a backward pass, launched"
    " alone: it computes dK and dV and adds to the dQ accumulator. Their times do not"
    " contain the row statistics (sums of o * do, logarithms), and the zeroing and"
    " conversion of the dQ accumulator. `ours` contains all kernels. All rates count"
    " the five matrix products, which are in the main kernel."
)


def counterpart(peer: str) -> str:
    """Returns the name of the contender of ours that `peer` is compared with."""
    return OURS_MAIN if peer == SPIKE_MAIN else "ours"


def format_number(value: Optional[float], form: str) -> str:
    return "n/a" if value is None else format(value, form)


def ratio(row: Row, peer: str) -> Optional[float]:
    """Returns our rate divided by a peer's, or None if one is missing."""
    ours, other = row.measurements.get(counterpart(peer)), row.measurements.get(peer)
    return ours.tflops / other.tflops if ours and other else None


def summary(results: Results) -> List[str]:
    """Returns a line for each pass: the geometric mean and the least of the ratios to
    each peer, and to the fastest peer of each shape."""
    lines = []
    for name in dict.fromkeys(row.shape.cells[0] for row in results.rows):
        rows = [row for row in results.rows if row.shape.cells[0] == name]
        found: Dict[str, List[float]] = {}
        for row in rows:
            peers = [n for n in results.contenders if n not in ("ours", *BY_HAND)]
            ratios = {peer: ratio(row, peer) for peer in peers}
            known = {peer: value for peer, value in ratios.items() if value is not None}
            if known:
                known["best peer"] = min(known.values())
            for peer, value in known.items():
                found.setdefault(peer, []).append(value)
        cells = [
            f"{peer} {statistics.geometric_mean(values):.3f} ({min(values):.3f})"
            for peer, values in sorted(found.items(), key=lambda item: item[0] == "best peer")
        ]
        if cells:
            lines.append(f"{name}, {len(rows)} shapes, ours/peer, mean (least): {', '.join(cells)}")
    return lines


class RateTable:
    """A text table of rates and ratios, printed line by line."""

    def __init__(self, contenders: Sequence[str]):
        self.peers = [name for name in contenders if name != "ours"]
        titles = ["ours"]
        for peer in self.peers:
            titles += [peer, *_ratio_titles([peer])]
        self.widths = [8, 3, 6, 6, 7, 6, 4, *(max(8, len(t)) for t in titles)]
        self.title = self._line([*COLUMNS, *titles])

    def line(self, row: Row) -> str:
        ours = row.measurements.get("ours")
        cells = [*row.shape.cells, format_number(ours and ours.tflops, ".1f")]
        for peer in self.peers:
            other = row.measurements.get(peer)
            cells.append(format_number(other and other.tflops, ".1f"))
            if peer != OURS_MAIN:
                cells.append(format_number(ratio(row, peer), ".3f"))
        return self._line(cells)

    def _line(self, cells: Sequence[str]) -> str:
        return " ".join(f"{c:>{w}}" for c, w in zip(cells, self.widths))


def _ratio_titles(peers: Sequence[str]) -> List[str]:
    """Returns the titles of the ratio columns; `ours main` has none."""
    return [
        f"{'main' if counterpart(peer) == OURS_MAIN else 'ours'}/{peer}"
        for peer in peers
        if peer != OURS_MAIN
    ]


def markdown(results: Results) -> str:
    """Returns tables of rates with errors, and of compile times."""
    names = results.contenders
    peers = [name for name in names if name not in ("ours", OURS_MAIN)]
    titles = [*COLUMNS, *names, *_ratio_titles(peers)]
    rates = []
    for row in results.rows:
        cells = []
        for name in names:
            found = row.measurements.get(name)
            cells.append(f"{found.tflops:.0f} ({found.error:.2f})" if found else "-")
        cells += [format_number(ratio(row, peer), ".2f") for peer in peers]
        rates.append([*row.shape.cells, *cells])
    compiled = []
    for row in results.rows:
        cells = []
        for name in names:
            found = row.measurements.get(name)
            if found is None:
                cells.append("-")
            elif found.compile_seconds is None:
                cells.append("precompiled")
            else:
                text = f"{found.compile_seconds:.2f}"
                if found.load_seconds is not None:
                    text += f" + {found.load_seconds:.2f}"
                cells.append(text)
        compiled.append([*row.shape.cells, *cells])
    parts = [
        results.machine,
        "TFLOP/s (the largest error divided by its tolerance).",
        *([MAIN_SCOPE] if SPIKE_MAIN in names else []),
        _table(titles, rates),
        *summary(results),
        "Compile time in seconds. Ours: from tile IR to PTX in one process for each"
        " program, + the driver's time to load it. FlexAttention: its first call.",
        _table([*COLUMNS, *names], compiled),
    ]
    return "\n\n".join(parts) + "\n"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
