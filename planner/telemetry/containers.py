"""Which container, pod or job a process of this machine belongs to, by its cgroup."""

import re
from pathlib import Path

_SHORT = 12
"""Characters of a container's id, as `docker ps` shows it."""

_MARKS = (
    (re.compile(r"slurm\S*?/job_(\d+)"), "Slurm "),
    (re.compile(r"kubepods\S*?pod([0-9a-f]{8}[-_0-9a-f]{27,28})"), "pod "),
    (re.compile(r"(?:docker|libpod|cri-containerd|crio|containerd)[-/:]([0-9a-f]{64})"), ""),
    (re.compile(r"/lxc(?:\.payload)?[./]([\w-]{1,60})"), "lxc "),
)


def container_of(pid: int) -> str:
    """ "Slurm 4711", "pod 1b2c…", or a container's short id; empty where there is none or it cannot be known."""
    try:
        with Path(f"/proc/{pid:d}/cgroup").open(encoding="utf-8", errors="replace") as file:
            return container_in(file.read(16384))
    except OSError:
        return ""


def container_in(cgroup: str) -> str:
    """The same from the text of a cgroup file."""
    for pattern, prefix in _MARKS:
        found = pattern.search(cgroup)
        if found:
            id = found.group(1).replace("_", "-")
            return prefix + (id if prefix in ("Slurm ", "lxc ") else id[:_SHORT])
    return ""
