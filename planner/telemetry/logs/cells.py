"""One cell of a log: a value in base units, or the reason that stands in its place."""

import re
from datetime import UTC, datetime

from planner.telemetry.sample import METRICS, Metric, Missing
from planner.units import GIB, GIGA, KIB, KILO, MEGA, MIB

_ABSENT = {
    "n/a": Missing.NOT_SUPPORTED,
    "not supported": Missing.NOT_SUPPORTED,
    "requested functionality has been deprecated": Missing.NOT_SUPPORTED,
    "insufficient permissions": Missing.NO_PERMISSION,
    "gpu is lost": Missing.GPU_LOST,
    "gpu requires reset": Missing.GPU_LOST,
    "unknown error": Missing.FAILED,
    "err!": Missing.FAILED,
    "not found": Missing.FAILED,
    "-": Missing.BLANK,
    "none": Missing.BLANK,
    "nan": Missing.BLANK,
    "": Missing.BLANK,
}
_SCALES = {
    "%": 0.01,
    "b": 1,
    "kib": KIB,
    "mib": MIB,
    "gib": GIB,
    "kb": KILO,
    "mb": MIB,  # nvidia-smi dmon and amd-smi write MB for 2**20 bytes
    "gb": GIGA,
    "w": 1,
    "mw": 1e-3,
    "c": 1,
    "mhz": MEGA,
    "ghz": GIGA,
    "kb/s": KILO,
    "mb/s": MEGA,
    "gb/s": GIGA,
    "mj": 1e-3,
    "j": 1,
    "x": 1,
    "us": 1e-6,
}
_FLAGS = {"yes": 1.0, "no": 0.0, "active": 1.0, "not active": 0.0, "true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"^([-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*([a-z%/]*)$", re.IGNORECASE)
_DEFAULT_UNIT = {"B": "mib", "share": "%", "W": "w", "C": "c", "Hz": "mhz", "B/s": "kb/s", "J": "mj"}
_RECOVERY = {"none": 0.0, "reset": 1.0, "gpu reset": 1.0, "reboot": 2.0, "node reboot": 2.0}
_RECOVERY |= {"drain p2p": 3.0, "drain and reset": 4.0}


def cell(text: str, metric: str, unit: str = "") -> Metric:
    """The value of a cell; `unit` is the column's, used where the cell names none (nvidia-smi's own if empty)."""
    bare = text.strip().strip("[]").strip()
    lower = bare.lower()
    if metric == "recovery_action" and lower in _RECOVERY:
        return _RECOVERY[lower]
    if lower in _ABSENT or lower.startswith("not available"):  # as under the WDDM driver model
        return _ABSENT.get(lower, Missing.NOT_SUPPORTED)
    if lower in _FLAGS:
        return _FLAGS[lower]
    if lower.startswith("0x"):
        try:
            return float(int(lower, 16))
        except ValueError:
            return Missing.FAILED
    if metric == "performance_state" and lower[:1] == "p" and lower[1:].isdigit():
        return float(lower[1:])
    found = _NUMBER.match(bare)
    if not found:
        return Missing.FAILED
    number = float(found.group(1).replace(",", ""))
    if METRICS.get(metric) in _DEFAULT_UNIT:
        named = (found.group(2) or unit or _DEFAULT_UNIT[METRICS[metric]]).lower()
        number *= _SCALES.get(named, 1)
    return number


def moment(text: str) -> float | None:
    """Seconds since 1970 of a time as logs write it. A time without a zone is taken as UTC."""
    bare = text.strip()
    try:
        number = float(bare)
    except ValueError:
        pass
    else:  # seconds, or milliseconds, since 1970; small numbers are seconds since the start
        return number / 1000 if number > 1e11 else number
    try:
        found = datetime.fromisoformat(bare.replace("/", "-"))
    except ValueError:
        try:
            found = datetime.strptime(bare, "%a %b %d %H:%M:%S %Y")
        except ValueError:
            return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
