"""An automaton as a PNG picture, drawn by matplotlib (extra `evaluation`)."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from dialoom.automata.automaton import START
from dialoom.automata.exports.graphs import FILLS, OTHER_FILL, OTHER_STROKE, STROKES, caption
from dialoom.automata.exports.layout import HEIGHT, WIDTH, Layout, layout
from dialoom.automata.exports.svg import CAPTION, counted
from dialoom.automata.exports.text import plain
from dialoom.automata.exports.view import View
from dialoom.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 144
MAX_PIXELS = 20_000
HEAD = 40.0


def png(shown: View) -> bytes:
    """The picture, at most 20,000 pixels a side. Raises `MissingExtra` without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("Drawing a PNG picture", "evaluation") from None
    place = layout(shown)
    width, height = max(place.width, 480.0), place.height + HEAD
    figure = Figure(figsize=(width / 72, height / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(place.height, -HEAD)
    axes.set_axis_off()
    axes.text(28, -12, counted(shown), fontsize=13, color="#111827", parse_math=False)
    _arrows(axes, shown, place)
    _boxes(axes, shown, place)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font has not are drawn as boxes
        FigureCanvasAgg(figure)
        figure.savefig(buffer, format="png", dpi=min(DPI, 72 * MAX_PIXELS / max(width, height)))
    return buffer.getvalue()


def _arrows(axes: Axes, shown: View, place: Layout) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for arrow in sorted(place.arrows, key=lambda arrow: arrow.main):
        share = arrow.transition.traffic / max(1, shown.dialogues)
        curve = Path(list(arrow.curve), [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        colour, style = ("#94a3b8", "solid") if arrow.main else ("#cbd5e1", "dashed")
        thick = min(1.0 + 6.0 * share**0.5, 7.0)
        axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=colour, linewidth=thick, linestyle=style))


def _boxes(axes: Axes, shown: View, place: Layout) -> None:
    from matplotlib.patches import FancyBboxPatch

    for state in shown.states:
        x, y = place.corners[state.id]
        axes.add_patch(
            FancyBboxPatch(
                (x, y),
                WIDTH,
                HEIGHT,
                boxstyle=f"round,pad=0,rounding_size={20 if state.id == START else 7}",
                facecolor=FILLS.get(state.role, OTHER_FILL),
                edgecolor=STROKES.get(state.role, OTHER_STROKE),
                linewidth=3 if state.accept else 1.2,
                zorder=3,
            )
        )
        axes.text(
            x + 12, y + 17, plain(caption(state), CAPTION), fontsize=11, color="#111827", zorder=4, parse_math=False
        )
        axes.text(x + 12, y + 33, str(state.count), fontsize=9, color="#4b5563", zorder=4)
