"""Links and groups: shared ports, and arrays that agree with scalars."""

import dataclasses

import numpy as np
import pytest

from planner.estimate import estimate
from planner.hardware.catalogue import gpu
from planner.hardware.links import cluster_links, inter_node_link
from planner.hardware.types import Cluster
from planner.plan.plan import resolve
from planner.plan.request import request_of


@pytest.mark.parametrize(("gpus", "per_node", "sharers"), [(2, 1, 1), (16, 8, 8), (4, 8, 4), (16, 4, 4)])
def test_a_nodes_port_is_shared_by_the_gpus_of_the_node(gpus, per_node, sharers):
    port = inter_node_link("ethernet-10")
    cluster = Cluster(gpu=gpu("rtx-4090"), gpus=gpus, gpus_per_node=per_node, inter_node=port)
    _, inter = cluster_links(cluster)
    assert inter.bandwidth == pytest.approx(1.25e9 / sharers)


def test_a_port_of_its_own_is_not_shared():
    cluster = Cluster(gpu=gpu("h100-sxm5-80gb"), gpus=64, inter_node=inter_node_link("ib-ndr"))
    assert cluster_links(cluster)[1].bandwidth == pytest.approx(50e9)


def test_many_numbers_of_gpus_at_once_are_each_as_alone():
    plan = resolve({"gpus": 16, "sharding": "fsdp", "network": "ethernet-100-node"})
    request, counts = request_of(plan), np.array([16.0, 32.0, 64.0])
    layout = dataclasses.replace(request.layout, data_parallel=counts)
    cluster = dataclasses.replace(request.cluster, gpus=counts)
    together = estimate(dataclasses.replace(request, layout=layout, cluster=cluster)).speed.seconds
    alone = [estimate(request_of(plan.with_changes(gpus=int(count)))).speed.seconds for count in counts]
    assert together == pytest.approx(alone)
