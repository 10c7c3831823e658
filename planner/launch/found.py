"""What the readers find, gathered over several texts of one run, until it makes a plan."""

import re
from typing import Any

from planner.launch.options import as_whole
from planner.launch.types import Reading, Unread
from planner.models import catalogue as models
from planner.plan.plan import parse_value, resolve
from planner.plan.table import BY_ID
from planner.result import InputError, Notice
from planner.units import MEGA


class Found:
    """A plan in the making. Later texts override earlier ones; what follows from several is computed at the end."""

    def __init__(self) -> None:
        self.frameworks: list[str] = []
        self.chosen: dict[str, Any] = {}
        self.unread: list[Unread] = []
        self.assumptions: list[Notice] = []
        self.global_batch: int | None = None  # sequences per optimizer step, all GPUs
        self.global_microbatches: int | None = None  # micro-batches in flight per replica, where stated apart
        self.steps: int | None = None  # optimizer steps to train
        self.replicas: int | None = None  # data-parallel replicas of a served model
        self.elsewhere: list[str] = []  # configurations that the texts refer to

    def set(self, field: str, value: Any, option: str = "") -> None:
        """Choose a plan's value; one outside the plan's limits is unread, and says why."""
        try:
            self.chosen[field] = parse_value(BY_ID[field], value)
        except InputError as error:
            problem = error.problems[0]
            self.unread.append(Unread(option or field, str(value)[:200], "bad-value", {"problem": problem}))

    def assume(self, code: str, **parameters: Any) -> None:
        """Note something that the text does not say."""
        self.assumptions.append(Notice(code, parameters=parameters))

    def get(self, field: str, otherwise: Any = None) -> Any:
        """What was chosen so far."""
        return self.chosen.get(field, otherwise)

    def model(self, name: Any, option: str) -> None:
        """The model by its name, a path's last part or a file's stem, where the catalogue knows it."""
        text = str(name)
        last = text.rstrip("/").rsplit("/", 1)[-1]
        bare = re.sub(r"^meta-", "", last, flags=re.IGNORECASE)
        for candidate in (text, last, bare, re.sub(r"^([A-Za-z]+)(\d)", r"\1-\2", bare)):  # llama3.1: Llama-3.1
            try:
                self.chosen["model"] = models.find(candidate).id
            except InputError:
                continue
            if self.chosen["model"].lower() != text.lower():
                self.assume("model-by-name", given=text[:200], model=self.chosen["model"])
            return
        self.unread.append(Unread(option, text[:200], "unknown-model"))

    def default(self, field: str, value: Any) -> None:
        """A framework's own default, where its option was absent."""
        if field not in self.chosen:
            self.set(field, value)
            self.assume("framework-default", field=field, value=value)

    def devices(self, per_node: Any, nodes: Any = None) -> None:
        """The GPUs of a launcher: so many a node, on so many nodes."""
        each, count = as_whole(per_node), as_whole(nodes) or 1
        if each and each > 0:
            self.set("gpus", each * count)
            if count > 1:
                self.set("gpus_per_node", each)

    def finish(self) -> Reading:
        """What follows from several values together, and the whole as a reading."""
        if self.get("task") == "serve":
            self._serving_devices()
        else:
            self._batch()
            self._length()
        if len(set(self.frameworks)) < 2:
            for file in self.elsewhere:
                self.assume("config-elsewhere", file=file)
        return Reading(
            frameworks=tuple(dict.fromkeys(self.frameworks)),
            chosen=dict(self.chosen),
            unread=tuple(self.unread),
            assumptions=tuple(notice for notice in self.assumptions if self._matters(notice)),
        )

    def _matters(self, notice: Notice) -> bool:
        """Whether an assumed default is of a field that applies to the plan."""
        if notice.code != "framework-default":
            return True
        return resolve({"gpus": 2, **self.chosen} if "gpus" not in self.chosen else self.chosen).uses(
            notice.parameters["field"]
        )

    @property
    def data_parallel(self) -> int:
        """Replicas of the batch, as far as the degrees are known."""
        degrees = ("tensor_parallel", "pipeline_parallel", "context_parallel")
        product = 1
        for name in degrees:
            product *= self.get(name, 1)
        return max(1, int(self.get("gpus", product)) // product)

    def _batch(self) -> None:
        if self.global_batch is None:
            return
        if "gpus" not in self.chosen:
            self.assume("gpus-unknown")
        micro = self.get("micro_batch_size", 1) * self.data_parallel
        self.set("gradient_accumulation_steps", max(1, self.global_batch // micro))
        if self.global_batch % micro:
            self.assume("batch-not-whole", global_batch=self.global_batch, micro=micro)

    def _length(self) -> None:
        length = self.get("sequence_length")
        if self.steps is None or length is None:
            return
        micro = self.get("micro_batch_size", 1) * self.get("gradient_accumulation_steps", 1)
        tokens = self.steps * (self.global_batch or micro * self.data_parallel) * length
        self.set("train_tokens_millions", tokens / MEGA)

    def _serving_devices(self) -> None:
        """An engine takes the GPUs that its degrees ask for."""
        if "gpus" not in self.chosen:
            product = self.get("tensor_parallel", 1) * self.get("pipeline_parallel", 1) * (self.replicas or 1)
            self.set("gpus", product)
