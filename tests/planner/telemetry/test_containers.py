"""Where a process belongs, from cgroup files as container engines write them."""

import os

import pytest

from planner.telemetry.containers import container_in, container_of

ID = "0123456789ab" + "c" * 52


@pytest.mark.parametrize(
    ("cgroup", "name"),
    [
        (f"0::/system.slice/docker-{ID}.scope\n", ID[:12]),
        (f"12:devices:/docker/{ID}\n", ID[:12]),
        (f"0::/machine.slice/libpod-{ID}.scope", ID[:12]),
        (
            "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1b2c3d4e_0000_1111_2222_333344445555"
            f".slice/cri-containerd-{ID}.scope",
            "pod 1b2c3d4e-000",
        ),
        (f"1:name=systemd:/kubepods/burstable/pod1b2c3d4e-0000-1111-2222-333344445555/{ID}", "pod 1b2c3d4e-000"),
        ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "Slurm 4711"),
        ("5:memory:/slurm/uid_1000/job_4711/step_batch", "Slurm 4711"),
        ("0::/lxc.payload.trainer/init.scope", "lxc trainer"),
        ("0::/user.slice/user-1000.slice/session-2.scope", ""),
        ("", ""),
    ],
)
def test_every_engine_is_known(cgroup: str, name: str) -> None:
    assert container_in(cgroup) == name


def test_no_such_process_has_no_container() -> None:
    assert container_of(2**30) == ""
    assert isinstance(container_of(os.getpid()), str)
