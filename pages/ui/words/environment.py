"""Words for the checks of the environment: their names, states and advice."""

from functools import lru_cache

from pages.ui.text import Text
from planner.environment.check import State


def state_name(text: Text, state: State) -> str:
    """How a check stands, in a word."""
    return {
        State.OK: text.p("check", "OK"),
        State.WARNING: text.p("check", "Look"),
        State.PROBLEM: text.p("check", "Problem"),
        State.NOT_APPLICABLE: text.p("check", "Not applicable"),
        State.UNKNOWN: text.p("check", "Unknown"),
    }[state]


def verdict_name(text: Text, good: bool | None) -> str:
    """How a link of the chain stands, in a word."""
    return state_name(text, {True: State.OK, None: State.WARNING, False: State.PROBLEM}[good])


def judgement(text: Text, code: str, *, found: str, needed: str) -> str:
    """The sentence of a link of the chain."""
    return {
        "driver-full": text.t("Driver {found} runs this CUDA in full (needs {needed}).", found=found, needed=needed),
        "driver-minor": text.t(
            "Driver {found} runs this CUDA by minor-version compatibility: without features and just-in-time compiling "
            "that need {needed}.",
            found=found,
            needed=needed,
        ),
        "driver-old": text.t("Driver {found} is too old for this CUDA: at least {needed}.", found=found, needed=needed),
        "cuda-too-old": text.t(
            "This GPU needs CUDA {needed} or newer; {found} does not know it.", found=found, needed=needed
        ),
        "gpu-dropped": text.t(
            "{found} no longer supports this GPU; the last was {needed}.", found=found, needed=needed
        ),
        "gpu-known": text.t("{found} knows this GPU (since {needed}).", found=found, needed=needed),
    }.get(code, code)


def check_name(text: Text, id: str) -> str:
    """What a check looks at."""
    return _names(text).get(id, id)


@lru_cache
def _names(text: Text) -> dict[str, str]:
    return {
        "gpu.present": text.t("NVIDIA GPU"),
        "driver.loaded": text.t("Driver answers"),
        "driver.library": text.t("Library and kernel module"),
        "driver.cuda": text.t("CUDA that the driver runs"),
        "torch.build": text.t("PyTorch build"),
        "torch.driver": text.t("PyTorch and driver"),
        "torch.arch": text.t("PyTorch and GPU architecture"),
        "torch.devices": text.t("GPUs that PyTorch sees"),
        "torch.cudnn": text.t("cuDNN that PyTorch loaded"),
        "tensorflow.build": text.t("TensorFlow build"),
        "tensorflow.driver": text.t("TensorFlow and driver"),
        "jax.build": text.t("JAX build"),
        "env.visible-devices": text.t("Visible devices"),
        "env.device-order": text.t("Order of devices"),
        "env.library-path": text.t("Library path"),
        "env.launch-blocking": text.t("Blocking launches"),
        "python.pynvml": text.t("Python binding of NVML"),
        "container.runtime": text.t("GPUs in containers"),
        "container.shm": text.t("Shared memory"),
        "limits.memlock": text.t("Locked memory"),
        "limits.files": text.t("Open files"),
        "disk.free": text.t("Free disk space"),
        "gpu.persistence": text.t("Persistence mode"),
        "gpu.ecc": text.t("Error correction (ECC)"),
        "gpu.mig": text.t("Partitioning (MIG)"),
        "gpu.pcie": text.t("PCIe lanes"),
        "gpu.profiling": text.t("Performance counters"),
        "gpu.fabric": text.t("Fabric manager"),
        "wsl.driver": text.t("Driver under WSL"),
    }


def advice(text: Text, id: str) -> str:
    """What to do."""
    return _advice(text).get(id, id)


@lru_cache
def _advice(text: Text) -> dict[str, str]:
    return {
        "driver-install": text.t("Install the NVIDIA driver; on a server, the distribution's or NVIDIA's package."),
        "driver-module": text.t(
            "Load the kernel module (modprobe nvidia); rebuild it for the running kernel if that fails, and with "
            "Secure Boot enrol its key."
        ),
        "driver-reboot": text.t("The library is newer than the loaded kernel module: reboot, or reload the module."),
        "driver-newer": text.t("Update the driver: current frameworks need a newer one."),
        "driver-or-wheel": text.t("Update the driver, or install the framework built for an older CUDA."),
        "permission": text.t("This user may not open the devices: join the group that owns /dev/nvidia*."),
        "container-recreate": text.t(
            "Create the container anew: after a systemd reload it loses its devices. CDI avoids it."
        ),
        "container-gpus": text.t("Start the container with access to the GPU: --gpus all."),
        "container-driver": text.t(
            "Do not install driver packages inside a container: it brings the host's library along."
        ),
        "amd-found": text.t("An AMD GPU was found; these checks are about NVIDIA. Use rocm-smi and the ROCm wheels."),
        "nouveau": text.t("The nouveau driver holds the card: blacklist it and rebuild the initramfs."),
        "wsl-shadow": text.t("A Linux driver package shadows the library of WSL: purge it. The Windows driver counts."),
        "wsl-driver": text.t("Update the NVIDIA driver in Windows; install none inside WSL."),
        "framework-import": text.t("The framework cannot be imported: reinstall it in a clean environment."),
        "cpu-only-wheel": text.t(
            "This build is for the CPU only: install the wheel with CUDA. The driver is not the cause."
        ),
        "wheel-newer": text.t("The GPU is newer than this build: install a wheel with its architecture."),
        "wheel-older": text.t(
            "The GPU is older than this build supports: install an older release or build from source."
        ),
        "visible-devices": text.t("CUDA_VISIBLE_DEVICES hides the other GPUs."),
        "visible-none": text.t("CUDA_VISIBLE_DEVICES hides every GPU: unset it."),
        "visible-invalid": text.t(
            "CUDA_VISIBLE_DEVICES names a GPU that is not there; CUDA ignores it and all after it."
        ),
        "fabric-manager": text.t("On NVSwitch systems start the fabric manager of the driver's own version."),
        "cudnn-shadow": text.t("Another cuDNN is loaded than was installed: take it out of LD_LIBRARY_PATH."),
        "device-order": text.t("Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID."),
        "compat-library": text.t(
            "A forward-compatibility library comes first: it works on data-centre GPUs only (error 804)."
        ),
        "library-path": text.t("Clear LD_LIBRARY_PATH of CUDA folders: the wheels bring their own libraries."),
        "launch-blocking": text.t("Unset CUDA_LAUNCH_BLOCKING outside of debugging."),
        "pynvml-shadow": text.t("Uninstall pynvml and reinstall nvidia-ml-py."),
        "docker-snap": text.t("Docker from snap cannot use the GPU: install the distribution's or Docker's package."),
        "toolkit": text.t("Install the NVIDIA container toolkit, configure the runtime, restart the daemon."),
        "shm": text.t("Start the container with --shm-size=8g or --ipc=host."),
        "memlock": text.t("Raise the limit of locked memory (ulimit -l unlimited) for multi-node work."),
        "open-files": text.t("Raise the limit of open files (ulimit -n 65536)."),
        "disk": text.t("Free some space before downloading models."),
        "persistence": text.t("Turn persistence on: start nvidia-persistenced."),
        "ecc": text.t("Error correction is off: results are not protected against memory errors."),
        "mig": text.t(
            "The GPU is partitioned: utilisation is not measured, and each instance is planned as its own GPU."
        ),
        "profiling": text.t(
            "Performance counters are for the administrator only: profilers need "
            "NVreg_RestrictProfilingToAdminUsers=0 or root."
        ),
        "pcie": text.t("The card has fewer lanes than it could: check slot, riser and firmware settings."),
    }
