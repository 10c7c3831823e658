"""Schedulers around a launch: a Slurm batch script, and a Kubernetes Job or Deployment. Written and read.

Names: Slurm 23.11 and later (sbatch, srun); Kubernetes 1.29 and later (batch/v1, apps/v1).
"""

import shlex
from typing import Any

from planner.launch import launcher
from planner.launch.found import Found
from planner.launch.options import Options, as_whole
from planner.launch.types import File, Launch
from planner.plan.plan import Plan

WRAPPERS = ("slurm", "kubernetes")

_IMAGES = {
    "vllm": "vllm/vllm-openai:latest",
    "sglang": "lmsysorg/sglang:latest",
    "tensorrt-llm": "nvcr.io/nvidia/tensorrt-llm/release:1.2.0",
    "llama.cpp": "ghcr.io/ggml-org/llama.cpp:server-cuda",
    "ollama": "ollama/ollama:latest",
    "axolotl": "axolotlai/axolotl:main-latest",
}
_PYTORCH_IMAGE = "nvcr.io/nvidia/pytorch:25.10-py3"
_KINDS = ("Job", "Deployment", "StatefulSet", "Pod", "PyTorchJob")


def slurm(plan: Plan, launch: Launch) -> tuple[File, str]:
    """(job.sbatch, the command that submits it): one task a node, which starts the node's processes."""
    nodes, each = launcher.nodes(plan)
    rows = [
        "#!/usr/bin/env bash",
        f"# Made by GPU Planner for Slurm 23.11 and later; runs {launch.version}.",
        "#SBATCH --job-name=planned",
        f"#SBATCH --nodes={nodes}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --gpus-per-node={each}",
        f"#SBATCH --cpus-per-task={8 * each}",
        "#SBATCH --time=24:00:00",
        "#SBATCH --output=%x-%j.log",
        "set -euo pipefail",
        'export HEAD_NODE="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"',
        f"srun bash -c {shlex.quote(f'export NODE_RANK=$SLURM_NODEID; {launch.command}')}",
    ]
    return File("job.sbatch", "\n".join(rows) + "\n", "bash"), "sbatch job.sbatch"


def kubernetes(plan: Plan, launch: Launch) -> tuple[File, str]:
    """(job.yaml, the commands that create it): a Deployment for a server, else an indexed Job of one pod a node."""
    nodes, each = launcher.nodes(plan)
    serves = plan.values["task"] == "serve"
    indent = "          "
    where = [] if serves else ["export NODE_RANK=$JOB_COMPLETION_INDEX HEAD_NODE=planned-0.planned"]
    steps = f"\n{indent}".join(["cp /files/* .", *where, *launch.command.splitlines()])
    pod = f"""
      containers:
      - name: planned
        image: {_IMAGES.get(launch.framework, _PYTORCH_IMAGE)}  # with the versions above
        workingDir: /work
        command:
        - bash
        - -c
        - |
{indent}{steps}
        resources:
          limits:
            nvidia.com/gpu: {each}
        volumeMounts:
        - name: files
          mountPath: /files
        - name: work
          mountPath: /work
        - name: memory
          mountPath: /dev/shm
      volumes:
      - name: files
        configMap:
          name: planned
      - name: work
        emptyDir: {{}}
      - name: memory  # NCCL and loaders share memory
        emptyDir:
          medium: Memory
"""
    top = f"# Made by GPU Planner for Kubernetes 1.29 and later; runs {launch.version}.\n"
    text = (_DEPLOYMENT if serves else _JOB).format(nodes=nodes, pod=pod)
    files = " ".join(f"--from-file={file.name}" for file in launch.files)
    return File("job.yaml", top + text, "yaml"), f"kubectl create configmap planned {files}\nkubectl apply -f job.yaml"


_DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: planned
spec:
  replicas: {nodes}
  selector:
    matchLabels:
      app: planned
  template:
    metadata:
      labels:
        app: planned
    spec:{pod}"""

_JOB = """apiVersion: batch/v1
kind: Job
metadata:
  name: planned
spec:
  completions: {nodes}
  parallelism: {nodes}
  completionMode: Indexed
  template:
    metadata:
      labels:
        app: planned
    spec:
      subdomain: planned
      restartPolicy: Never{pod}---
apiVersion: v1
kind: Service
metadata:
  name: planned
spec:
  clusterIP: None
  selector:
    app: planned
"""


def unwrap(options: Options, found: Found) -> tuple[str, ...] | None:
    """The commands inside a Kubernetes object, its GPUs noted; None where the options are none."""
    kind = options.peek("kind")
    if options.kind != "yaml" or "apiVersion" not in options:
        return None
    nodes = options.whole("spec.completions", "spec.parallelism", "spec.replicas") or 1
    containers = options.peek("spec.template.spec.containers") or options.peek("spec.containers")
    if kind not in _KINDS or not isinstance(containers, list):
        return ()
    commands = []
    for container in containers[:8]:
        if isinstance(container, dict):
            commands.extend(_command(container))
            gpus = _gpus(container)
            if gpus:
                found.devices(gpus, nodes)
    return tuple(commands)


def _command(container: dict[str, Any]) -> list[str]:
    words = [
        word for key in ("command", "args") for word in container.get(key) or [] if isinstance(word, str | int | float)
    ]
    if len(words) >= 3 and str(words[0]).endswith("sh") and str(words[1]).startswith("-"):
        return [str(words[2])]
    return [shlex.join(str(word) for word in words)] if words else []


def _gpus(container: dict[str, Any]) -> int | None:
    resources = container.get("resources")
    limits = resources.get("limits") if isinstance(resources, dict) else None
    if not isinstance(limits, dict):
        return None
    return next((as_whole(count) for name, count in limits.items() if str(name).endswith("/gpu")), None)


def read_slurm(options: Options, found: Found) -> None:
    """The GPUs that a batch script asks for."""
    per_node = options.take("sbatch.gpus_per_node", "sbatch.gres")
    total = options.whole("sbatch.gpus")
    nodes = options.take("sbatch.nodes", "sbatch.N")
    count = str(per_node).rpartition(":")[2] if per_node is not None else None
    if count is None and total:
        count = str(max(1, total // (as_whole(nodes) or 1)))
    if count is not None:
        found.devices(count, nodes)
