"""What we aim at, by quantity, and what the carried measurements say was reached."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from planner.calibration.residuals import Residual, residuals


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Errors not to exceed, as shares: in the median, and for nine of ten rows."""

    id: str  # stable
    label: str
    middle: float
    tail: float
    chosen: Callable[[Residual], bool]


def _of(*families: str, domains: tuple[str, ...] = ()) -> Callable[[Residual], bool]:
    return lambda each: each.family in families and (not domains or each.domain in domains)


def _tuned(*families: str) -> Callable[[Residual], bool]:
    return lambda each: each.family in families and not each.domain.endswith("inference")


_LANGUAGE = ("llm_pretrain", "llm_finetune")

TARGETS = (
    Target(id="allocated", label="training peak, allocated", middle=0.04, tail=0.12, chosen=_tuned("allocated")),
    Target(
        id="held", label="training peak, reserved/device", middle=0.08, tail=0.20, chosen=_tuned("reserved", "device")
    ),
    Target(id="weights", label="engine weights per GPU", middle=0.01, tail=0.04, chosen=_of("weights")),
    Target(id="cache", label="KV-cache tokens and bytes", middle=0.03, tail=0.10, chosen=_of("cache")),
    Target(id="language", label="LLM training tokens/s", middle=0.08, tail=0.20, chosen=_of("step", domains=_LANGUAGE)),
    Target(
        id="images",
        label="CNN/ViT/BERT samples/s",
        middle=0.12,
        tail=0.30,
        chosen=_of("step", domains=("vision", "bert", "vision_inference")),
    ),
    Target(id="decode", label="serving time per output token", middle=0.08, tail=0.20, chosen=_of("decode")),
    Target(
        id="first",
        label="serving first token, output rate",
        middle=0.12,
        tail=0.30,
        chosen=_of("first-token", "output"),
    ),
)

COVERAGE = (0.85, 0.95)
"""Share of measurements that 90 % intervals should hold, in every group of 30 rows and more."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A target and what was reached on rows of quality A and B."""

    target: Target
    rows: int
    sources: int
    middle: float
    tail: float
    coverage: float

    @property
    def met(self) -> bool:
        return self.middle <= self.target.middle and self.tail <= self.target.tail


def reached() -> list[Reached]:
    """Every target against the carried comparisons."""
    kept = [each for each in residuals() if each.quality in ("A", "B")]
    return [_reached(target, [each for each in kept if target.chosen(each)]) for target in TARGETS]


def _reached(target: Target, rows: Sequence[Residual]) -> Reached:
    sizes = sorted(abs(each.relative) for each in rows)
    tail = sizes[round(0.9 * (len(sizes) - 1))] if sizes else 0.0
    covered = sum(each.covered for each in rows) / len(rows) if rows else 0.0
    return Reached(target, len(rows), len({r.source for r in rows}), median(sizes) if sizes else 0.0, tail, covered)
