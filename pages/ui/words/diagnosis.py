"""Sentences for the verdicts of the diagnosis, their evidence and their advice."""

from functools import lru_cache

from pages.ui.text import Text
from pages.ui.words.telemetry import metric, metric_name
from planner.telemetry.diagnosis.thresholds import THRESHOLDS
from planner.telemetry.diagnosis.verdict import Confidence, Evidence
from planner.telemetry.sample import METRICS


def verdict_name(text: Text, rule: str) -> str:
    """What was found, in one sentence."""
    return _verdicts(text).get(rule, rule)


@lru_cache
def _verdicts(text: Text) -> dict[str, str]:
    return {
        "gpu-lost": text.t("A GPU is lost or needs a reset"),
        "thermal": text.t("Slowed down by heat"),
        "power-brake": text.t("Slowed down by the power supply"),
        "power-capped": text.t("The power limit is set below the card's own"),
        "slow-clocks": text.t("Busy at low clocks, without a stated reason"),
        "link-degraded": text.t("The PCIe link is slower than it could be"),
        "unused-gpu": text.t("A GPU stands still while another one works"),
        "imbalance": text.t("GPUs wait for each other"),
        "counters-contradict": text.t("The activity counters contradict the rest: not used"),
        "sawtooth": text.t("The GPU waits for its input"),
        "host-bound": text.t("The processor holds the GPU back"),
        "copy-bound": text.t("Mostly moving data over PCIe"),
        "launch-bound": text.t("Kernels too small to fill the GPU"),
        "communication-bound": text.t("Mostly exchanging data between GPUs"),
        "busy-at-low-power": text.t("Busy all the time, yet at low power"),
        "hang": text.t("No step has ended for a long time"),
        "bandwidth-bound": text.t("Limited by memory bandwidth"),
        "tensor-cores-unused": text.t("Tensor cores are not used"),
        "memory-tight": text.t("Memory is nearly full"),
        "memory-held": text.t("Memory is held by something idle"),
        "memory-room": text.t("More than half the memory was never used"),
        "mig-unmeasurable": text.t("Utilisation can't be measured on a partitioned GPU"),
        "idle": text.t("Nothing runs on the GPU"),
        "healthy": text.t("Well used, as far as telemetry can tell"),
    }


def advice(text: Text, id: str) -> str:
    """One thing to do."""
    return {
        "drain-node": text.t("Move the work off this node before trusting any of its results."),
        "reset-gpu": text.t("Reset the GPU or reboot; if it comes back, have the card looked at."),
        "improve-cooling": text.t("Check air flow, fans and dust; lower the power limit until it is fixed."),
        "compare-neighbours": text.t("Compare with the neighbouring GPUs: one hot card points at its slot."),
        "check-supply": text.t("Check power supply, cables and the rack's budget."),
        "raise-power-limit": text.t("Raise the limit with nvidia-smi -pl, if power and cooling allow."),
        "check-power-plan": text.t("Check the power plan and, on a laptop, the mains supply."),
        "persistence-mode": text.t("Turn persistence mode on."),
        "check-slot": text.t("Reseat the card; check riser, slot and firmware settings."),
        "world-size": text.t("Check that the launcher starts one process for each GPU."),
        "even-batches": text.t("Give every GPU the same amount of work: pad or sort by length."),
        "slow-node": text.t("Look for a slower card or node among them."),
        "pipeline-stages": text.t("Balance the pipeline's stages, or use more micro-batches."),
        "restart-profiler": text.t("Restart the monitoring service; another profiler may hold the counters."),
        "more-workers": text.t("Use more data-loading workers, and keep them alive between epochs."),
        "prefetch": text.t("Load the next batch while this one is computed; use pinned memory."),
        "decode-on-gpu": text.t("Decode and augment images on the GPU, or beforehand."),
        "cache": text.t("Keep the data set on a local disk or in memory."),
        "less-python": text.t("Do less in Python between steps: fewer synchronising calls, compiled tokenising."),
        "more-cores": text.t("Give the job more processor cores."),
        "pinned-memory": text.t("Use pinned memory and copies that don't block."),
        "keep-on-gpu": text.t("Keep tensors on the GPU instead of moving them each step."),
        "less-offload": text.t("Offload less to the CPU, if memory allows."),
        "larger-batch": text.t("Use a larger micro-batch."),
        "compile": text.t("Compile the model (torch.compile)."),
        "cuda-graphs": text.t("Capture the step as a CUDA graph."),
        "fused-optimizer": text.t("Use a fused optimizer."),
        "overlap": text.t("Overlap communication with computing."),
        "accumulate": text.t("Accumulate gradients over more micro-batches, so that they are exchanged less often."),
        "bucket-size": text.t("Try larger communication buckets."),
        "topology": text.t("Keep tensor parallelism within a node, on NVLink."),
        "dump-stacks": text.t("Dump the stacks of all ranks (py-spy dump) before ending the job."),
        "quantize": text.t("Quantise the weights or the KV cache."),
        "fuse": text.t("Fuse element-wise work (compile, fused kernels)."),
        "mixed-precision": text.t("Compute in bf16, or allow TF32."),
        "multiples-of-eight": text.t("Make sizes multiples of 8 (better 64)."),
        "headroom": text.t("Leave some memory free; look for fragmentation."),
        "smaller-batch": text.t("Use a smaller micro-batch or recompute activations."),
        "end-forgotten-process": text.t("End the process that holds it, if it is forgotten."),
        "less-recompute": text.t("Recompute fewer activations."),
    }.get(id, id)


def confidence(text: Text, one: Confidence) -> str:
    """How sure a verdict is."""
    return {
        Confidence.HIGH: text.t("clear evidence"),
        Confidence.MEDIUM: text.t("likely"),
        Confidence.LOW: text.t("not certain"),
    }[one]


def missing_input(text: Text, name: str) -> str:
    """An input that a rule did not have."""
    return {
        "readings": text.t("enough readings"),
        "several-gpus": text.t("several GPUs"),
        "gpus": text.t("state of the GPU"),
        "load": text.t("work on the GPU"),
        "step_progress": text.t("progress of the steps"),
        "communication_share": text.t("share of communication in a step"),
        "event_reasons": text.t("reasons for the clocks"),
        "power_limit_default": text.t("default power limit"),
        "sm_clock_max": text.t("highest SM clock"),
        "pcie_generation_max": text.t("highest PCIe generation"),
        "pcie_width_max": text.t("number of PCIe lanes"),
    }.get(name) or metric_name(text, name)


def evidence(text: Text, one: Evidence) -> str:
    """A figure with the limit it was compared with."""
    unit = THRESHOLDS[one.threshold].unit if one.threshold else METRICS.get(one.metric, "")
    shown = _figure(text, one.metric, unit, one.value)
    name = _evidence_names(text).get(one.metric) or metric_name(text, one.metric)
    if unit == "flag":
        return name
    if one.limit is None:
        return text.t("{name}: {value}", name=name, value=shown)
    return text.t(
        "{name}: {value} (limit {limit})", name=name, value=shown, limit=_figure(text, one.metric, unit, one.limit)
    )


def _figure(text: Text, name: str, unit: str, value: float) -> str:
    if name in METRICS:
        return metric(text, name, value)
    if unit == "share":
        return text.percent(value)
    if unit == "s" or name.endswith("_seconds"):
        return text.seconds(value)
    return text.scaled(value, "B/s") if unit == "B/s" else text.number(value)


@lru_cache
def _evidence_names(text: Text) -> dict[str, str]:
    return {
        "thermal_share": text.t("Share of readings slowed by heat"),
        "brake_seconds": text.t("Time under the power brake"),
        "capped_share": text.t("Share of readings at the power limit"),
        "sm_clock_ratio": text.t("SM clock of its maximum"),
        "link_share": text.t("Share of loaded readings below the maximum"),
        "unused_seconds": text.t("Time at 0% beside a busy GPU"),
        "imbalance_busy": text.t("Spread of the busy time"),
        "imbalance_power": text.t("Spread of the power"),
        "utilization_high": text.t("95th percentile of the busy time"),
        "utilization_low": text.t("5th percentile of the busy time"),
        "period_seconds": text.t("Period"),
        "pcie_share": text.t("PCIe traffic of what the link carries"),
        "pcie_rate": text.t("PCIe traffic"),
        "memory_free_share": text.t("Free memory"),
        "power_ratio": text.t("Power of its limit"),
        "communication_share": text.t("Share of communication in a step"),
        "steps_missed": text.t("Time since the last step, in steps"),
        "memory_share": text.t("Memory in use, of what programs can have"),
        "held_seconds": text.t("Time held while idle"),
        "lost": text.t("It no longer answers"),
        "remap_failed": text.t("Replacing a broken memory row failed"),
        "recovery_action": text.t("Recovery that the driver asks for"),
    }


def alert_name(text: Text, id: str) -> str:
    """What an alert is about."""
    return {
        "lost": text.t("GPU lost"),
        "errors": text.t("Memory or Xid errors"),
        "throttled": text.t("Slowed down by heat or power supply"),
        "hot": text.t("Hot"),
        "memory-full": text.t("Memory nearly full"),
        "memory-held": text.t("Idle while memory is held"),
        "low-power": text.t("Busy at low power"),
    }.get(id, id)
