"""Compare predicted with measured speed by source: `python tests/benchmarks/speed_accuracy.py` prints median errors.

The tables in tests/data hold published measurements in our own columns, each row with its source.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from planner.hardware.catalogue import gpu
from planner.hardware.links import inter_node_link
from planner.hardware.types import Cluster
from planner.models.spec import (
    Attention,
    Embedding,
    FeedForward,
    ImageCosts,
    Layer,
    Linear,
    MixtureOfExperts,
    ModelSpec,
    ModelTask,
    Norm,
    NormKind,
    Run,
    Stack,
    StackKind,
)
from planner.parallel import Layout, Schedule, Sharding
from planner.throughput.serving import serving_speed
from planner.throughput.training import training_speed
from planner.workload import (
    AttentionImplementation,
    BaseFormat,
    Engine,
    LossPath,
    Method,
    MethodKind,
    OptimizerKind,
    Recompute,
    Serving,
    Training,
    TrainingPrecision,
)

DATA = Path(__file__).parents[1] / "data"


def decoder(row):
    """A decoder of the row's widths: `gpt` (LayerNorm, plain MLP) or `llama` (RMSNorm, gated MLP)."""
    hidden, heads, vocabulary = int(row["hidden"]), int(row["heads"]), int(row["vocabulary"])
    gpt = row["family"] == "gpt"
    norm = Norm(width=hidden, kind=NormKind.LAYER if gpt else NormKind.RMS)
    attention = Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=int(row["kv_heads"] or heads),
        head_dim=int(row["head_dim"] or hidden // heads),
        rotary=not gpt,
    )
    mlp = FeedForward(hidden=hidden, width=int(row["ffn"]), gated=not gpt)
    if row["experts"]:
        mlp = MixtureOfExperts(hidden=hidden, experts=int(row["experts"]), top_k=int(row["top_k"]), expert=mlp)
    layer = Layer(hidden=hidden, mixers=(attention,), feed_forwards=(mlp,), norms=(norm, norm))
    stack = Stack(kind=StackKind.DECODER, hidden=hidden, runs=(Run(layer, int(row["layers"])),), norms=(norm,))
    return ModelSpec(
        id=row["id"],
        name=row["id"],
        model_type=row["family"],
        hidden=hidden,
        vocabulary=vocabulary,
        embeddings=(Embedding(role="token", rows=vocabulary, width=hidden),),
        head=Linear(role="head", inputs=hidden, outputs=vocabulary),
        stacks=(stack,),
        tied=gpt,
    )


def image_network(row):
    """An image network known by its totals."""
    costs = ImageCosts(
        parameters=round(float(row["params_m"]) * 1e6),
        multiply_accumulates=float(row["gmacs"]) * 1e9,
        activation_elements=float(row["macts_m"]) * 1e6,
        image_size=int(row["image_size"]),
    )
    return ModelSpec(id=row["id"], name=row["id"], model_type="image", task=ModelTask.VISION, image=costs)


def training_request(row):
    """The request that a row of training_speed.csv describes."""
    model = image_network(row) if row["family"] == "image" else decoder(row)
    chunks = int(row["vpp"] or 1)
    layout = Layout(
        data_parallel=int(row["dp"]),
        tensor_parallel=int(row["tp"]),
        pipeline_parallel=int(row["pp"]),
        context_parallel=int(row["cp"]),
        expert_parallel=int(row["ep"]),
        sequence_parallel=row["sequence_parallel"] == "yes",
        sharding=Sharding(row["sharding"]),
        schedule=Schedule.INTERLEAVED if chunks > 1 else Schedule.ONE_F_ONE_B,
        virtual_stages=chunks,
    )
    method = Method(
        kind=MethodKind(row["method"]),
        rank=int(row["rank"] or 16),
        targets=row["targets"] or "all-linear",
        base_format=BaseFormat(row["base_format"] or "nf4"),
        adapter_fp32=row["adapter_fp32"] != "no",
        kbit_upcast=row["base_format"] == "nf4" and row["note"] == "stock",
    )
    return Training(
        model=model,
        cluster=Cluster(
            gpu=gpu(row["gpu"]),
            gpus=int(row["gpus"]),
            gpus_per_node=int(row["gpus_per_node"]),
            inter_node=inter_node_link(row["inter_node"]),
        ),
        layout=layout,
        method=method,
        precision=TrainingPrecision(row["precision"]),
        optimizer=OptimizerKind(row["optimizer"]),
        micro_batch_size=int(row["micro_batch"]),
        gradient_accumulation_steps=int(row["accumulation"]),
        sequence_length=int(row["sequence_length"] or 1),
        image_size=int(row["image_size"] or 224),
        recompute=Recompute(row["recompute"]),
        attention=AttentionImplementation(row["attention"]),
        loss=LossPath(row["loss"]),
        compiled=row["compiled"] == "yes",
    )


def serving_request(row):
    """The request that a row of serving_speed.csv describes."""
    tensor, pipeline = int(row["tp"]), int(row["pp"])
    return Serving(
        model=decoder({**row, "family": "llama", "experts": row.get("experts", "")}),
        cluster=Cluster(gpu=gpu(row["gpu"]), gpus=tensor * pipeline),
        layout=Layout(tensor_parallel=tensor, pipeline_parallel=pipeline),
        engine=Engine(row["engine"]),
        weight_format=row["format"],
        concurrency=int(row["concurrency"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
    )


def serving_error(row):
    """Predicted over measured speed of decoding, less one."""
    speed = serving_speed(serving_request(row))
    if row["tpot_ms"]:
        return float(row["tpot_ms"]) / 1e3 / speed.time_per_output_token - 1
    return 1 / speed.time_per_output_token / float(row["decode_tokens_per_second"]) - 1


def rows(name):
    """Rows of a table in tests/data."""
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def training_error(row):
    """Predicted over measured throughput, less one."""
    speed = training_speed(training_request(row))
    if row["samples_per_second"]:
        return speed.samples_per_second / float(row["samples_per_second"]) - 1
    return speed.tokens_per_second / int(row["gpus"]) / float(row["tokens_per_second_per_gpu"]) - 1


def by_source(table, error):
    """Errors of a table's rows, by source."""
    found = defaultdict(list)
    for row in table:
        found[row["source"]].append(error(row))
    return found


def report(title, found):
    """Print the median of absolute errors and of signed errors by source, and over all rows."""
    print(title)
    everything = [error for errors in found.values() for error in errors]
    for source, errors in [*sorted(found.items()), ("all", everything)]:
        size = median(abs(e) for e in errors)
        print(f"  {source:24} {len(errors):4} rows   median |error| {size:6.1%}   median error {median(errors):+6.1%}")


if __name__ == "__main__":
    report("Training speed", by_source(rows("training_speed.csv"), training_error))
    report("Decoding speed", by_source(rows("serving_speed.csv"), serving_error))
