"""What was measured, as a file and as tables. Needs nothing but Python."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from shapes import COLUMNS, Shape


@dataclass
class Measurement:
    """Of one contender at one shape.

    `error` is the largest error in units of what is allowed: over 1 is wrong.
    `compile_seconds` is None for kernels that come compiled. `load_seconds` is
    what the driver took to load the kernels the first time, of ours only: it
    compiles PTX unless its cache has it.
    """

    milliseconds: float
    tflops: float
    error: float
    compile_seconds: Optional[float] = None
    load_seconds: Optional[float] = None


@dataclass
class Row:
    """One shape, with a measurement for each contender that takes it."""

    shape: Shape
    measurements: Dict[str, Measurement] = field(default_factory=dict)


@dataclass
class Results:
    """All rows, and what they were measured on, in words."""

    machine: str
    rows: List[Row] = field(default_factory=list)

    @property
    def contenders(self) -> List[str]:
        return list(dict.fromkeys(n for row in self.rows for n in row.measurements))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> "Results":
        """Raises ValueError if the file holds something else."""
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


def number(value: Optional[float], form: str) -> str:
    return "n/a" if value is None else format(value, form)


def ratio(row: Row, peer: str) -> Optional[float]:
    """Our rate by a peer's."""
    ours, other = row.measurements.get("ours"), row.measurements.get(peer)
    return ours.tflops / other.tflops if ours and other else None


class RateTable:
    """Rows of text as they come: rates and ratios."""

    def __init__(self, contenders: Sequence[str]):
        self.peers = [name for name in contenders if name != "ours"]
        titles = ["ours", *(t for p in self.peers for t in (p, f"ours/{p}"))]
        self.widths = [8, 3, 6, 6, 7, 6, 4, *(max(8, len(t)) for t in titles)]
        self.title = self._line([*COLUMNS, *titles])

    def line(self, row: Row) -> str:
        ours = row.measurements.get("ours")
        cells = [*row.shape.cells, number(ours and ours.tflops, ".1f")]
        for peer in self.peers:
            other = row.measurements.get(peer)
            cells.append(number(other and other.tflops, ".1f"))
            cells.append(number(ratio(row, peer), ".3f"))
        return self._line(cells)

    def _line(self, cells: Sequence[str]) -> str:
        return " ".join(f"{c:>{w}}" for c, w in zip(cells, self.widths))


def markdown(results: Results) -> str:
    """Tables of rates with errors, and of compile times."""
    names = results.contenders
    peers = [name for name in names if name != "ours"]
    titles = [*COLUMNS, *names, *(f"ours/{peer}" for peer in peers)]
    rates = []
    for row in results.rows:
        cells = []
        for name in names:
            found = row.measurements.get(name)
            cells.append(f"{found.tflops:.0f} ({found.error:.2f})" if found else "-")
        cells += [number(ratio(row, peer), ".2f") for peer in peers]
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
        "TFLOP/s (the largest error, in units of what is allowed).",
        _table(titles, rates),
        "Seconds to compile: ours from tile IR to PTX, one process for each"
        " program, + what the driver took to load it; FlexAttention: its first"
        " call.",
        _table([*COLUMNS, *names], compiled),
    ]
    return "\n\n".join(parts) + "\n"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
