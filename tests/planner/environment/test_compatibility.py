"""The table and what is read from it; figures of NVIDIA's release notes."""

import pytest

from planner.environment.compatibility import covers, cuda_of_driver, driver_for, judge, table, version


def test_every_row_has_a_source_and_a_kind():
    kinds = {row.kind for row in table()}
    assert kinds == {"toolkit", "major", "branch", "capability", "pytorch", "tensorflow", "cudnn", "mig"}
    assert all(row.source and row.as_of for row in table())


@pytest.mark.parametrize(
    ("text", "numbers"), [("590.48.01", (590, 48, 1)), ("12.8", (12, 8)), ("R580", (580,)), ("", ()), ("none", ())]
)
def test_versions(text, numbers):
    assert version(text) == numbers


@pytest.mark.parametrize(("driver", "cuda"), [("450.80", "11.0"), ("550.90.07", "12.4"), ("610.62", "13.3"), ("", "")])
def test_the_newest_cuda_of_a_driver(driver, cuda):
    assert cuda_of_driver(driver) == cuda


def test_the_driver_of_a_cuda():
    assert driver_for("12.0").least == "525.60.13"
    assert driver_for("13.0").least == "580"
    assert driver_for("12.99").least == "525.60.13", "a release that is not in the table yet follows its major"
    assert driver_for("99.0") is None
    assert driver_for("nonsense") is None


@pytest.mark.parametrize(
    ("driver", "cuda", "capability", "codes"),
    [
        ("590.48.01", "12.8", "9.0", ["driver-full", "gpu-known"]),
        ("535.100", "12.8", "9.0", ["driver-minor", "gpu-known"]),
        ("470.10", "12.8", "8.0", ["driver-old", "gpu-known"]),
        ("590.48.01", "12.4", "12.0", ["driver-full", "cuda-too-old"]),
        ("590.48.01", "13.0", "7.0", ["driver-full", "gpu-dropped"]),
        ("", "13.0", "", []),
    ],
)
def test_the_chain(driver, cuda, capability, codes):
    assert [one.code for one in judge(driver=driver, cuda=cuda, capability=capability)] == codes


@pytest.mark.parametrize(
    ("built", "capability", "expected"),
    [
        (["sm_80", "sm_90"], "9.0", True),
        (["sm_80"], "8.6", True),
        (["sm_80"], "9.0", False),
        (["sm_80", "compute_80"], "12.0", True),
        (["sm_90a"], "9.0", True),
        (["sm_100a"], "10.3", False),
        (["sm_100", "sm_120"], "9.0", False),
        (["sm_86"], "8.0", False),
        ([], "9.0", None),
        (["sm_80"], "", None),
    ],
)
def test_what_a_build_runs_on(built, capability, expected):
    assert covers(built, capability) is expected
