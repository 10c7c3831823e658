"""`doctor`: does this machine's driver, CUDA, framework and GPU belong together?"""

import argparse
import json
import sys
from typing import Any

from planner.environment.check import State
from planner.environment.checks import check_all
from planner.environment.probe import gather
from planner.environment.report import as_mapping, redacted


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = "checks driver, CUDA, frameworks and GPU of this machine; exit status 1 where there is a problem"
    parser = commands.add_parser("doctor", help=about, description=about)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--redact", action="store_true", help="leave out UUIDs, home folders and addresses")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose frameworks are looked at")
    parser.add_argument("--quick", action="store_true", help="do not import frameworks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every check; 1 where one found a problem."""
    facts = gather(options.python, frameworks=not options.quick)
    checks = check_all(facts)
    clean = redacted if options.redact else str
    if options.json:
        print(json.dumps(as_mapping(facts, checks, redact=options.redact), indent=2, ensure_ascii=False))
    else:
        for one in checks:
            if one.state is State.NOT_APPLICABLE:
                continue
            print(f"{one.state:<9}{one.id:<22}{clean(one.found)}".rstrip())
            if one.state in (State.WARNING, State.PROBLEM):
                if one.expected:
                    print(f"{'':<31}expected: {clean(one.expected)}")
                if one.advice:
                    print(f"{'':<31}{ADVICE[one.advice]}")
        skipped = [one.id for one in checks if one.state is State.NOT_APPLICABLE]
        print(f"not applicable here: {', '.join(skipped) or 'none'}")
    return int(any(one.state is State.PROBLEM for one in checks))


ADVICE = {
    "driver-install": "Install the NVIDIA driver; on a server, the distribution's or NVIDIA's package.",
    "driver-module": "Load the kernel module (modprobe nvidia); rebuild it for the running kernel if that fails, and "
    "with Secure Boot enrol its key.",
    "driver-reboot": "The library is newer than the loaded kernel module: reboot, or reload the module.",
    "driver-newer": "Update the driver: current frameworks need a newer one.",
    "driver-or-wheel": "Update the driver, or install the framework built for an older CUDA.",
    "permission": "This user may not open the devices: join the group that owns /dev/nvidia*.",
    "container-recreate": "Create the container anew: after a systemd reload it loses its devices. CDI avoids it.",
    "container-gpus": "Start the container with access to the GPU: --gpus all.",
    "container-driver": "Do not install driver packages inside a container: it brings the host's library along.",
    "amd-found": "An AMD GPU was found; these checks are about NVIDIA. Use rocm-smi and the ROCm wheels.",
    "nouveau": "The nouveau driver holds the card: blacklist it and rebuild the initramfs.",
    "wsl-shadow": "A Linux driver package shadows the library of WSL: purge it. The Windows driver counts.",
    "wsl-driver": "Update the NVIDIA driver in Windows; install none inside WSL.",
    "framework-import": "The framework cannot be imported: reinstall it in a clean environment.",
    "cpu-only-wheel": "This build is for the CPU only: install the wheel with CUDA. The driver is not the cause.",
    "wheel-newer": "The GPU is newer than this build: install a wheel with its architecture.",
    "wheel-older": "The GPU is older than this build supports: install an older release or build from source.",
    "visible-devices": "CUDA_VISIBLE_DEVICES hides the other GPUs.",
    "visible-none": "CUDA_VISIBLE_DEVICES hides every GPU: unset it.",
    "visible-invalid": "CUDA_VISIBLE_DEVICES names a GPU that is not there; CUDA ignores it and all after it.",
    "fabric-manager": "On NVSwitch systems start the fabric manager of the driver's own version.",
    "cudnn-shadow": "Another cuDNN is loaded than was installed: take it out of LD_LIBRARY_PATH.",
    "device-order": "Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID.",
    "compat-library": "A forward-compatibility library comes first: it works on data-centre GPUs only (error 804).",
    "library-path": "Clear LD_LIBRARY_PATH of CUDA folders: the wheels bring their own libraries.",
    "launch-blocking": "Unset CUDA_LAUNCH_BLOCKING outside of debugging.",
    "pynvml-shadow": "Uninstall pynvml and reinstall nvidia-ml-py.",
    "docker-snap": "Docker from snap cannot use the GPU: install the distribution's or Docker's package.",
    "toolkit": "Install the NVIDIA container toolkit, configure the runtime, restart the daemon.",
    "shm": "Start the container with --shm-size=8g or --ipc=host.",
    "memlock": "Raise the limit of locked memory (ulimit -l unlimited) for multi-node work.",
    "open-files": "Raise the limit of open files (ulimit -n 65536).",
    "disk": "Free some space before downloading models.",
    "persistence": "Turn persistence on: start nvidia-persistenced.",
    "ecc": "Error correction is off: results are not protected against memory errors.",
    "mig": "The GPU is partitioned: utilisation is not measured, and each instance is planned as its own GPU.",
    "profiling": "Performance counters are for the administrator only: profilers need "
    "NVreg_RestrictProfilingToAdminUsers=0 or root.",
    "pcie": "The card has fewer lanes than it could: check slot, riser and firmware settings.",
}
"""What to do, by the id that a check gives."""
