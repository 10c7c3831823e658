"""Logs as people keep them, in small samples of each shape."""

import pytest

from planner.telemetry.logs.cells import cell, moment
from planner.telemetry.logs.read import read_log
from planner.telemetry.sample import Kind, Missing

from . import exporter

MIB = 2**20


@pytest.mark.parametrize(
    ("text", "metric", "expected"),
    [
        ("97 %", "utilization", 0.97),
        (" 97", "utilization", 0.97),
        ("20137 MiB", "memory_used", 20137 * MIB),
        ("11.64 W", "power", 11.64),
        ("1980 MHz", "sm_clock", 1.98e9),
        ("P2", "performance_state", 2.0),
        ("0x0000000000000004", "event_reasons", 4.0),
        ("1,024 MiB", "memory_used", 1024 * MIB),
        ("16x", "pcie_width", 16.0),
        ("Yes", "remap_pending", 1.0),
        ("None", "recovery_action", 0.0),
        ("[N/A]", "utilization", Missing.NOT_SUPPORTED),
        ("[Not Supported]", "fan", Missing.NOT_SUPPORTED),
        ("N/A", "fan", Missing.NOT_SUPPORTED),
        ("[Requested functionality has been deprecated]", "sm_clock", Missing.NOT_SUPPORTED),
        ("Not available in WDDM driver model", "memory_used", Missing.NOT_SUPPORTED),
        ("ERR!", "power", Missing.FAILED),
        ("[Unknown Error]", "power", Missing.FAILED),
        ("[GPU is lost]", "power", Missing.GPU_LOST),
        ("-", "utilization", Missing.BLANK),
        ("", "utilization", Missing.BLANK),
        ("gibberish", "power", Missing.FAILED),
    ],
)
def test_a_cell_is_a_value_in_base_units_or_a_reason(text, metric, expected):
    found = cell(text, metric)
    assert found == (expected if isinstance(expected, Missing) else pytest.approx(expected))


@pytest.mark.parametrize(
    "text", ["2025/09/24 03:41:43.500", "2025-09-24T03:41:43.500Z", "1758685303.5", "1758685303500"]
)
def test_times_in_every_spelling(text):
    assert moment(text) == pytest.approx(1758685303.5)


def test_a_header_with_units_in_brackets():
    log = read_log(
        "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], pstate, odd\n"
        "2026/01/01 00:00:00.000, 0, 97 %, 1000 MiB, 2000 MiB, 300.00 W, P0, 7\n"
        "2026/01/01 00:00:00.003, 1, [N/A], 900 MiB, 2000 MiB, [Not Supported], P0, 7\n"
        "2026/01/01 00:00:01.000, 0, 98 %, 1001 MiB, 2000 MiB, 310.00 W, P0, 7\n"
        "2026/01/01 00:00:01.003, 1, [N/A], 901 MiB, 2000 MiB, [Not Supported], P0, 7\n"
    )
    trace = log.trace
    assert len(trace.times) == 2, "GPUs a few milliseconds apart are one reading"
    assert trace.values("index-0", "power").tolist() == [300.0, 310.0]
    assert trace.values("index-1", "memory_used").tolist() == [900 * MIB, 901 * MIB]
    assert trace.reason("index-1", "utilization") is Missing.NOT_SUPPORTED
    assert trace.unknown_columns == ("odd",)


def test_nounits_and_names_of_ones_own():
    log = read_log(
        "timestamp,gpu_index,temperature_C,utilization_gpu_percent,power_W\n"
        "2025-09-24T03:41:43.487Z,0, 23, 0, 73.41\n2025-09-24T03:41:43.487Z,1, 42, 100, 81.42\n"
    )
    assert log.trace.last("index-1", "utilization") == 1.0
    assert log.trace.last("index-0", "temperature") == 23.0
    assert not log.trace.notes


def test_no_header_is_told_by_the_cells():
    log = read_log(
        "2026/04/25 16:06:06.780, 3 %, 1 %, 2 MiB, 20146 MiB, 27, 11.64 W\n"
        "2026/04/25 16:06:11.788, 0 %, 0 %, 20137 MiB, 11 MiB, 27, 11.36 W\n"
    )
    trace = log.trace
    assert trace.notes == ("columns-guessed",)
    assert trace.last("index-0", "memory_used") == 20137 * MIB
    assert trace.last("index-0", "memory_total") == 20148 * MIB
    assert trace.values("index-0", "utilization")[0] == pytest.approx(0.03)


def test_rows_of_one_moment_without_an_index_are_gpus_in_order_and_it_says_so():
    log = read_log(
        "timestamp, utilization.gpu [%], power.draw [W]\n"
        "2026/01/01 00:00:00.000, 1 %, 10 W\n2026/01/01 00:00:00.000, 2 %, 20 W\n"
        "2026/01/01 00:00:01.000, 3 %, 11 W\n2026/01/01 00:00:01.000, 4 %, 21 W\n"
    )
    assert log.trace.values("index-1", "power").tolist() == [20.0, 21.0]
    assert "gpus-by-order" in log.trace.notes


DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk  rxpci  txpci
# Idx      W      C      C      %      %      %      %    MHz    MHz   MB/s   MB/s
    0    630     53     41    100      8      0      0   3201   1980     12     34
    1    430     56      -      -      -      -      -   2619   1980      -      -
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk  rxpci  txpci
# Idx      W      C      C      %      %      %      %    MHz    MHz   MB/s   MB/s
    0    632     54     42    100      8      0      0   3201   1980     12     34
    1    431     56      -      -      -      -      -   2619   1980      -      -
"""


def test_dmon_with_repeated_headings_and_blanks():
    trace = read_log(DMON).trace
    assert len(trace.times) == 2
    assert trace.notes == ("no-times",)
    assert trace.values("index-0", "power").tolist() == [630.0, 632.0]
    assert trace.last("index-0", "pcie_receive") == 12e6
    assert trace.last("index-1", "utilization") is Missing.BLANK


PMON = """\
# gpu         pid   type     sm    mem    enc    dec    command
# Idx           #    C/G      %      %      %      %    name
    0      10309     C     99      7      -      -    train.py
    0      10291     C      -      -      -      -    memhog
    0          -     -      -      -      -      -    -
"""


def test_pmon_gives_processes():
    first, second = read_log(PMON).processes
    assert (first.pid, first.name, first.sm) == (10309, "train.py", 0.99)
    assert second.sm is Missing.BLANK


QUERY = """\
==============NVSMI LOG==============

Timestamp                                 : Tue Jul 14 09:00:27 2026
KMD Version                               : 610.62
CUDA UMD Version                          : 13.3 [some remark]

Attached GPUs                             : 1
GPU 00000000:00:09.0
    Product Name                          : NVIDIA H100 80GB HBM3
    MIG Mode
        Current                           : Enabled
    MIG Device
        Index                             : 0
        Shared FB Memory Usage
            Total                         : 40448 MiB
            Used                          : 26 MiB
    GPU UUID                              : GPU-5
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 1
        Tx Throughput                     : 371 KB/s
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : Active
            HW Power Brake Slowdown       : Active
    FB Memory Usage
        Total                             : 81559 MiB
        Reserved                          : 600 MiB
        Used                              : 59 MiB
    Utilization
        GPU                               : N/A
    GPU Power Readings
        Average Power Draw                : 98.20 W
        Current Power Limit               : 700.00 W
    Processes
        GPU instance ID                   : 2
        Process ID                        : 21180
            Type                          : C
            Name                          : /home/somebody/train.py
            Used GPU Memory               : 2296 MiB
"""


def test_the_long_query_with_mig_and_processes():
    log = read_log(QUERY)
    parent, instance = log.trace.devices
    assert (parent.uuid, parent.name, parent.mig) == ("GPU-5", "NVIDIA H100 80GB HBM3", True)
    assert (instance.kind, instance.parent) == (Kind.MIG, "GPU-5")
    assert log.facts == {"driver": "610.62", "cuda": "13.3"}
    expected = {
        "memory_used": 59 * MIB,
        "power": 98.2,
        "power_limit": 700.0,
        "pcie_generation": 1.0,
        "pcie_generation_max": 5.0,
        "pcie_transmit": 371e3,
        "performance_state": 0.0,
        "event_reasons": 0x1 | 0x8 | 0x80,
    }
    assert {name: log.trace.last("GPU-5", name) for name in expected} == pytest.approx(expected, rel=1e-6)
    assert log.trace.last("GPU-5", "utilization") is Missing.UNDER_MIG
    assert log.trace.last(instance.uuid, "memory_total") == 40448 * MIB
    (process,) = log.processes
    assert (process.name, process.memory) == ("train.py", 2296 * MIB), "folders tell of their owner: left out"


def test_formats_glued_together_are_one_gpu():
    log = read_log(
        QUERY.replace("Enabled", "Disabled") + "\n####\n" + DMON.replace("    1 ", "    0 ") + "###\n" + PMON
    )
    assert {device.uuid for device in log.trace.devices if device.kind is Kind.GPU} == {"GPU-5"}
    assert {process.uuid for process in log.processes} == {"GPU-5"}


def test_process_table_of_a_query():
    log = read_log(
        "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
        "2026/07/03 22:11:09.916, GPU-1, 10291, C:\\Users\\somebody\\app.exe, [N/A]\n"
    )
    (process,) = log.processes
    assert (process.uuid, process.name, process.memory) == ("GPU-1", "app.exe", Missing.NOT_SUPPORTED)


@pytest.mark.parametrize("text", ["", "hello, world, this is prose\n", "\x00\x01", ",,,,\n", "a,b,c\n1,2,3\n"])
def test_what_is_no_log_says_so(text):
    assert "nothing-read" in read_log(text).trace.notes


@pytest.mark.parametrize("times", ["comments", "stamps", "none"])
def test_scrapes_of_dcgm_exporter_one_after_the_other(times):
    text = ""
    for second in range(3):
        if times == "comments":
            text += f"# 2026-01-31T10:00:0{second}Z\n"
        text += "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        for line in (exporter.OLD + exporter.NEW).splitlines():
            text += f"{line} {1_769_853_600_000 + 1000 * second}\n" if times == "stamps" else f"{line}\n"
    trace = read_log(text).trace
    assert len(trace.times) == 3
    assert trace.times[1] - trace.times[0] == 1.0
    assert ("no-times" in trace.notes) == (times == "none")
    assert list(trace.values("GPU-a", "utilization")) == pytest.approx([0.97] * 3)
    assert trace.latest("GPU-a", "power") == 640.5
    assert trace.latest("GPU-a", "temperature") is Missing.BLANK
    assert trace.latest("GPU-b", "utilization") == 0.5
    parts = {device.uuid: device for device in trace.gpus}
    assert parts["GPU-c/7"].kind is Kind.MIG


def test_a_scrape_with_broken_lines_keeps_the_whole_ones():
    text = exporter.OLD + 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-z 5\nDCGM_FI_DEV_GPU_UTIL{} \n' + "{" * 5000
    assert [device.uuid for device in read_log(text).trace.gpus] == ["GPU-a"]
