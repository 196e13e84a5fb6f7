"""Plots TFLOP/s by sequence length. Needs matplotlib."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from results import Results, Row

#: Each contender has a fixed colour, whichever contenders a plot shows.
COLOURS = {
    "ours": "tab:red",
    "cudnn": "tab:green",
    "flash": "tab:blue",
    "flex": "tab:orange",
    "spike": "tab:gray",
    "ours main": "tab:pink",
    "spike main": "tab:gray",
}


def missing_requirement() -> Optional[str]:
    if importlib.util.find_spec("matplotlib"):
        return None
    return (
        "a plot needs matplotlib (python3 -m pip install matplotlib); or save the"
        " results with --save and plot them elsewhere with --plot-from"
    )


def panels(results: Results) -> Dict[Tuple[str, ...], List[Row]]:
    """Groups the rows into panels. The rows of a panel differ only in length; the
    key is the title of the panel. The panels are in the order of the results."""
    found: Dict[Tuple[str, ...], List[Row]] = {}
    for row in results.rows:
        shape = row.shape
        name, _, heads, _, d, mask, dtype = shape.cells
        # The batch size depends on the length, so it is not part of the title. The
        # number of heads depends on the head size; only the group size is.
        group = f"group of {shape.heads // shape.kv_heads}"
        found.setdefault((name, f"D {d}", mask, dtype, group), []).append(row)
    return {
        title: sorted(rows, key=lambda row: row.shape.length)
        for title, rows in found.items()
    }


def save_plot(results: Results, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = panels(results)
    columns = min(3, len(groups))
    lines = -(-len(groups) // columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(5 * columns, 3.6 * lines), squeeze=False
    )
    for axis in axes.flat[len(groups) :]:
        axis.axis("off")
    for axis, (title, rows) in zip(axes.flat, groups.items()):
        lengths = sorted({row.shape.length for row in rows})
        for name in results.contenders:
            points = [
                (row.shape.length, row.measurements[name].tflops)
                for row in rows
                if name in row.measurements
            ]
            if points:
                axis.plot(*zip(*points), "o-", label=name, color=COLOURS.get(name))
        axis.set_xscale("log", base=2)
        axis.set_xticks(lengths, [str(length) for length in lengths])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_title(", ".join(title), fontsize="medium")
        axis.set_xlabel("sequence length")
        axis.set_ylabel("TFLOP/s")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    figure.suptitle(results.machine, fontsize="medium")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
