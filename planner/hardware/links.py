"""Links between accelerators: NVLink by version, PCIe by generation and lanes, networks by name.

`bandwidth` is one direction per GPU; `collective_bandwidth` the bus bandwidth (NCCL's busbw) that large all-gathers
and reduce-scatters attain; `latency` is the alpha of one step of a ring, in seconds.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Literal

from planner.hardware.catalogue import read_rows
from planner.hardware.types import Cluster, Gpu, Link
from planner.numeric import minimum
from planner.result import InputError, Problem
from planner.units import GIGA

MICROSECOND = 1e-6
NVLINK_COLLECTIVE_SHARE = 0.79
"""Bus bandwidth over line rate: 235/300 on A100, 365/450 on Hopper, 680/900 on Blackwell (NCCL, 8 GPUs)."""
PCIE_COLLECTIVE_SHARE = 0.42
"""26.4 of 63 GB/s with four RTX PRO 6000 (NCCL 2.29); two GPUs reach 0.61-0.65, hosts without peer-to-peer far less."""
HOST_COPY_SHARE = 0.88
"""Host-to-device copies from pinned memory: 55.4 of 63 GB/s (H200, PCIe 5)."""
PAGEABLE_COPY_SHARE = 0.35
"""Copies from pageable memory go through a staging buffer on the host; assumed: about a third of the line."""
DEFAULT_PCIE = (4, 16)
"""Generation and lanes assumed where a card's are unknown."""
DEFAULT_NETWORK = "ib-ndr"
CONSUMER_NETWORK = "ethernet-100-node"

Kind = Literal["auto", "nvlink", "pcie"]


@lru_cache(maxsize=1)
def links() -> dict[str, Link]:
    """Every link of the catalogue by id."""
    return {row["id"]: _link(row) for row in read_rows("interconnects.csv")}


def _link(row: dict[str, str]) -> Link:
    collective = row["collective_gbs"]
    return Link(
        id=row["id"],
        name=row["name"],
        bandwidth=float(row["bandwidth_gbs"]) * GIGA,
        latency=float(row["latency_us"]) * MICROSECOND,
        collective_bandwidth=float(collective) * GIGA if collective else None,
        per_node=row["per_node"] == "yes",
        source=row["source"],
    )


def has_fabric(gpu: Gpu) -> bool:
    """Whether the card has a link of its own beyond PCIe (NVLink, Infinity Fabric, on-package Ethernet, ICI)."""
    return gpu.nvlink_bandwidth is not None


@lru_cache(maxsize=1024)
def intra_node_link(gpu: Gpu, kind: Kind = "auto") -> Link:
    """The link between GPUs of one node: NVLink (or the vendor's fabric) where the card has it, else PCIe.

    Raises `InputError` "no-nvlink" where `kind` is "nvlink" and the card has none.
    """
    if kind == "nvlink" and not has_fabric(gpu):
        raise InputError([Problem("no-nvlink", "intra_node", kind, {"gpu": gpu.id})])
    return pcie_link(gpu) if kind == "pcie" or not has_fabric(gpu) else _fabric_link(gpu)


def _fabric_link(gpu: Gpu) -> Link:
    version = gpu.nvlink_version or ""
    table = links()
    if version.isdigit():
        base = table[f"nvlink-{version}"]
    elif version.startswith("RoCE"):
        base = table["gaudi-roce"]
    else:
        base = table["tpu-ici" if version == "ICI" else "infinity-fabric"]
    bandwidth = (gpu.nvlink_bandwidth or 0.0) / 2  # marketed figures count both directions
    share = base.collective_bandwidth / base.bandwidth if base.collective_bandwidth else NVLINK_COLLECTIVE_SHARE
    return replace(base, bandwidth=bandwidth, collective_bandwidth=share * bandwidth)


@lru_cache(maxsize=1024)
def pcie_link(gpu: Gpu) -> Link:
    """The card's PCIe slot, scaled to its lanes: between GPUs without a fabric, and to the host."""
    generation, lanes = gpu.pcie_generation or DEFAULT_PCIE[0], gpu.pcie_lanes or DEFAULT_PCIE[1]
    base = links()[f"pcie-{generation}-x16"]
    bandwidth = base.bandwidth * lanes / 16
    return replace(
        base,
        id=f"pcie-{generation}-x{lanes}",
        name=f"PCIe {generation}.0 x{lanes}",
        bandwidth=bandwidth,
        collective_bandwidth=PCIE_COLLECTIVE_SHARE * bandwidth,
    )


def inter_node_link(link_id: str) -> Link:
    """The network with this id, per GPU. Raises `InputError` "unknown-link" with the known ids."""
    if link := links().get(link_id):
        return link
    raise InputError([Problem("unknown-link", "inter_node", link_id, {"known": tuple(links())})])


def cluster_links(cluster: Cluster) -> tuple[Link, Link]:
    """The links of a cluster inside a node and between nodes, defaults filled in.

    400 Gb/s InfiniBand per GPU for cards with a fabric and HBM, one 100 Gb/s Ethernet port a node for the others.
    """
    intra = cluster.intra_node or intra_node_link(cluster.gpu)
    datacentre = "HBM" in cluster.gpu.memory_type
    inter = cluster.inter_node or links()[DEFAULT_NETWORK if datacentre else CONSUMER_NETWORK]
    return intra, _shared(inter, cluster) if inter.per_node else inter


def _shared(link: Link, cluster: Cluster) -> Link:
    """One GPU's share of a port that its node's GPUs have together."""
    sharers = minimum(cluster.gpus, cluster.gpus_per_node)
    collective = link.collective_bandwidth
    return replace(
        link,
        bandwidth=link.bandwidth / sharers,
        collective_bandwidth=None if collective is None else collective / sharers,
        per_node=False,
    )


def host_bandwidth(gpu: Gpu, pinned: bool = True) -> float:
    """Bytes/s of a copy between host and device, one direction; unified memory copies at half its bandwidth."""
    if gpu.unified_memory:
        return (gpu.memory_bandwidth or 0.0) / 2 or pcie_link(gpu).bandwidth
    return pcie_link(gpu).bandwidth * (HOST_COPY_SHARE if pinned else PAGEABLE_COPY_SHARE)


@lru_cache(maxsize=1)
def network_ids() -> tuple[str, ...]:
    """Ids of the links between nodes."""
    return tuple(row["id"] for row in read_rows("interconnects.csv") if row["kind"] == "network")
