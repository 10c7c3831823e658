"""The picture of who holds what: the model's layers as rows, cut into one column for each GPU, on each GPU.

A drawing of the idea, not to scale: the bytes beside it come from the planner.
"""

from html import escape

from pages.ui.learn import names
from pages.ui.text import Text

LAYERS = 8
KINDS = ("weights", "gradients", "optimizer")


def holds(layout: str, kind: str, gpu: int, gpus: int, row: int, column: int) -> bool:
    """Whether `gpu` of `gpus` keeps the piece at `row` and `column` of the weights, gradients or optimizer states."""
    own = column == gpu
    if layout == "ddp":
        return True
    if layout == "zero1":
        return kind != "optimizer" or own
    if layout == "zero2":
        return kind == "weights" or own
    if layout in ("fsdp", "tensor"):
        return own
    if layout == "pipeline":
        return row * gpus // LAYERS == gpu
    if row % 2:  # expert: every second row is a layer's experts, divided; the others are attention, as in ZeRO-1
        return own
    return kind != "optimizer" or own


def passes(layout: str, kind: str, gpu: int, gpus: int, row: int, column: int) -> bool:
    """Whether the piece is received, summed or computed there for a moment of each step."""
    kept = holds(layout, kind, gpu, gpus, row, column)
    if layout == "ddp":
        return kind == "gradients"
    if layout in ("zero1", "zero2"):
        return kind == "gradients" or (kind == "weights" and column != gpu)
    if layout == "fsdp":
        return kind != "optimizer" and not kept
    if layout == "expert":
        return kind == "weights" and bool(row % 2) and kept
    return kind == "weights" and kept  # tensor: all GPUs at each layer together; pipeline: one after the other


def picture_html(text: Text, layout: str, gpus: int) -> str:
    """One box for each GPU with its three grids; pieces that move light up layer by layer."""
    boxes = "".join(_gpu_html(text, layout, gpu, gpus) for gpu in range(gpus))
    said = escape(names.layout(text, layout), quote=True)
    legend = "".join(
        f'<li><i class="gp-{kind}"></i>{escape(name)}</li>'
        for kind, name in zip(KINDS, names.states(text), strict=True)
    )
    moving = text.t("moves in each step")
    legend += f'<li><i class="gp-cell-moving"></i>{escape(moving)}</li>'
    return (
        f'<div class="gp-holdings" role="img" aria-label="{said}">{boxes}</div><ul class="gp-legend">{legend}</ul>'
        f'<p class="gp-detail">{escape(names.layout(text, layout))}</p>'
    )


def _gpu_html(text: Text, layout: str, gpu: int, gpus: int) -> str:
    grids = "".join(_grid_html(layout, kind, gpu, gpus) for kind in KINDS)
    name = escape(text.isolate(f"GPU {gpu}"))
    return f'<div class="gp-holder"><b>{name}</b><div class="gp-grids">{grids}</div></div>'


def _grid_html(layout: str, kind: str, gpu: int, gpus: int) -> str:
    cells = []
    for row in range(LAYERS):
        for column in range(gpus):
            held = f"gp-{kind}" if holds(layout, kind, gpu, gpus, row, column) else "gp-cell-free"
            moves = " gp-moves" if passes(layout, kind, gpu, gpus, row, column) else ""
            cells.append(f'<i class="{held}{moves}" style="--row:{row}"></i>')
    return f'<div class="gp-cells" dir="ltr" style="--columns:{gpus}">{"".join(cells)}</div>'
