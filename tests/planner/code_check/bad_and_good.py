"""For every rule a script that breaks it, and the same with that one fault repaired."""

_HEAD = """
import gc
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
device = torch.device("cuda")
model = Net().to(device)
model = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters())
criterion = nn.CrossEntropyLoss()
loader = DataLoader(data, num_workers=8, pin_memory=True, persistent_workers=True)
total, losses = 0.0, []
"""


def loop(body: str = "", *, head: str = "", before: str = "", after: str = "", calm: bool = True) -> str:
    """A training loop without a fault (in bf16 by autocast), with these lines in every step."""
    cast = 'with torch.autocast("cuda", dtype=torch.bfloat16):' if calm else "if True:"
    lines = ["for epoch in range(10):", "    for step, (x, y) in enumerate(loader):"]
    lines += ["        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)", f"        {cast}"]
    lines += ["            loss = criterion(model(x), y)", "        optimizer.zero_grad()", "        loss.backward()"]
    lines += ["        optimizer.step()", *(f"        {line}" for line in body.split("\n") if line)]
    return _HEAD + head + before + "\n".join(lines) + "\n" + after


def scaled(steps: str, dtype: str = "torch.float16") -> str:
    """A loop that scales its loss, with these lines after backward."""
    lines = "\n".join(f"        {line}" for line in steps.split("\n"))
    return f"""{_HEAD}
scaler = torch.amp.GradScaler("cuda")
for epoch in range(10):
    for x, y in loader:
        with torch.autocast("cuda", dtype={dtype}):
            loss = criterion(model(x.to(device, non_blocking=True)), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
{lines}
"""


def distributed(
    loader: str = "DataLoader(data, sampler=sampler, num_workers=4, pin_memory=True)",
    epoch: str = "",
    wrap: str = "DistributedDataParallel(model, device_ids=[rank])",
    body: str = "loss.backward()",
) -> str:
    """A loop over several GPUs."""
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    return f"""
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
model = torch.compile({wrap})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = {loader}
for epoch in range(3):
    {epoch or "pass"}
    for i, batch in enumerate(loader):
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(batch.to(rank, non_blocking=True)).loss
{lines}
        optimizer.step()
"""


_EVAL = """
def validate(model, val_loader):
    {mode}
    {guard}
        for x, y in val_loader:
            out = model(x.to(device, non_blocking=True))
"""
_SAMPLER = "DataLoader(data, sampler=DistributedSampler(data), num_workers=4, pin_memory=True)"
_UNSCALED = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nscaler.step(optimizer)\nscaler.update()"
_TRAINER = "from transformers import TrainingArguments\nargs = TrainingArguments(output_dir='o', {})\n"
_LIGHTNING = "import lightning as L\ntrainer = L.Trainer(max_epochs=3, {})\n"
_KERAS = """
import keras
import tensorflow as tf
keras.mixed_precision.set_global_policy("mixed_bfloat16")
data = tf.data.Dataset.from_tensor_slices(files).map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().batch(32)
data = data.prefetch(tf.data.AUTOTUNE)
model = build()
model.compile(optimizer="adam", loss="mse")
model.fit(data, epochs=3)
"""
_CONV = "net = nn.Conv2d(3, 8, 3)\ntorch.backends.cudnn.benchmark = True\n"
_MODULE = """
import torch
import torch.nn.functional as F
from torch import nn
class Attention(nn.Module):
    def forward(self, q, k, v):
        return {}
"""
_PL = """
import lightning as L
import torch
class Model(L.LightningModule):
    def training_step(self, batch, i):
        return self.net(batch{}).mean()
"""
_TAPE = """
import tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_float16")
{}
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
for x, y in data:
    train_step(x, y)
"""

CLEAN_LOOP = loop()

PAIRS: dict[str, tuple[str, str]] = {
    "device.cpu": (
        "import torch\nopt = torch.optim.SGD(m.parameters())\nfor x in d:\n    m(x).sum().backward()\n    opt.step()",
        CLEAN_LOOP,
    ),
    "device.made-on-cpu": (loop("noise = torch.randn(8, 3).to(device)"), loop("n = torch.randn(8, 3, device=device)")),
    "loader.workers": (loop(head="val = DataLoader(data, pin_memory=True)\n"), CLEAN_LOOP),
    "loader.pin": (loop(head="val = DataLoader(data, num_workers=2, persistent_workers=True)\n"), CLEAN_LOOP),
    "loader.persistent": (loop(head="val = DataLoader(data, num_workers=2, pin_memory=True)\n"), CLEAN_LOOP),
    "loader.prefetch": (
        loop(head="v = DataLoader(d, num_workers=2, pin_memory=True, persistent_workers=True, prefetch_factor=1)\n"),
        CLEAN_LOOP,
    ),
    "transfer.blocking": (loop("mask = mask.to(device)"), loop("mask = mask.to(torch.float32)")),
    "cpu.tokenize": (loop("ids = tokenizer(words)"), loop(before="ids = tokenizer(words)\n")),
    "cpu.read-file": (
        "from PIL import Image\n" + loop("x = Image.open(path)"),
        "from PIL import Image\n" + loop(before="x = Image.open(path)\n"),
    ),
    "precision.none": (loop(calm=False), CLEAN_LOOP),
    "precision.tf32": (loop(calm=False), loop(calm=False, head='torch.set_float32_matmul_precision("high")\n')),
    "scaler.clip": (scaled(_UNSCALED), scaled(f"scaler.unscale_(optimizer)\n{_UNSCALED}")),
    "scaler.update": (scaled("scaler.step(optimizer)"), scaled("scaler.step(optimizer)\nscaler.update()")),
    "scaler.step": (scaled("optimizer.step()"), scaled("scaler.step(optimizer)\nscaler.update()")),
    "scaler.bf16": (
        scaled("scaler.step(optimizer)\nscaler.update()", "torch.bfloat16"),
        scaled("scaler.step(optimizer)\nscaler.update()"),
    ),
    "sync.item": (loop("total += loss.item()"), loop("if step % 100 == 0:\n    total += loss.item()")),
    "sync.to-host": (loop("seen = out.detach().cpu().numpy()"), loop(after="seen = out.cpu().numpy()\n")),
    "sync.print": (loop('print(f"{step} {loss:.3f}")'), loop('if step % 10 == 0:\n    print(f"{step} {loss:.3f}")')),
    "sync.branch": (loop("if torch.isnan(loss):\n    break"), loop("if step > limit:\n    break")),
    "sync.synchronize": (loop("torch.cuda.synchronize()"), loop("if args.profile:\n    torch.cuda.synchronize()")),
    "sync.empty-cache": (loop("torch.cuda.empty_cache()"), loop(after="torch.cuda.empty_cache()\n")),
    "sync.gc": (loop("gc.collect()"), loop("if step % 500 == 499: gc.collect()")),
    "leak.kept-graph": (loop("losses.append(loss)"), loop("losses.append(loss.detach())")),
    "leak.retain-graph": (
        CLEAN_LOOP.replace("loss.backward()", "loss.backward(retain_graph=True)"),
        CLEAN_LOOP,
    ),
    "grad.zero": (loop("optimizer.zero_grad(set_to_none=False)"), loop("optimizer.zero_grad(set_to_none=True)")),
    "eval.grad": (
        loop(after=_EVAL.format(mode="model.eval()", guard="if True:")) + "model.train()",
        loop(after=_EVAL.format(mode="model.eval()", guard="with torch.inference_mode():")) + "model.train()",
    ),
    "eval.mode": (
        loop(after=_EVAL.format(mode="pass", guard="with torch.no_grad():")),
        loop(after=_EVAL.format(mode="model.eval()", guard="with torch.no_grad():")) + "model.train()",
    ),
    "eval.never-back": (
        loop(after="    model.eval()\n    score(model)\n"),
        loop(after="    model.eval()\n    score(model)\n    model.train()\n"),
    ),
    "parallel.data-parallel": (loop(head="model = nn.DataParallel(model)\n"), CLEAN_LOOP),
    "ddp.sampler": (
        distributed("DataLoader(data, num_workers=4, pin_memory=True)").replace("DistributedSampler", "Dataset"),
        distributed(_SAMPLER, "loader.sampler.set_epoch(epoch)"),
    ),
    "ddp.set-epoch": (distributed(_SAMPLER), distributed(_SAMPLER, "loader.sampler.set_epoch(epoch)")),
    "ddp.no-sync": (
        distributed(body="loss.backward()\nif i % 4 != 3:\n    continue\nif i % 4 == 3:\n    optimizer.step()"),
        distributed(body="with model.no_sync():\n    loss.backward()\nif i % 4 == 3:\n    optimizer.step()"),
    ),
    "ddp.find-unused": (
        distributed(wrap="DistributedDataParallel(model, find_unused_parameters=True)"),
        distributed(),
    ),
    "compile.none": (CLEAN_LOOP.replace("model = torch.compile(model)\n", ""), CLEAN_LOOP),
    "layout.channels-last": (
        loop(head=_CONV),
        loop(head=_CONV + "model = model.to(memory_format=torch.channels_last)\n"),
    ),
    "cudnn.benchmark": (loop(head="net = nn.Conv2d(3, 8, 3)\n"), loop(head=_CONV)),
    "cudnn.deterministic": (loop(head="torch.backends.cudnn.deterministic = True\n"), CLEAN_LOOP),
    "cudnn.off": (loop(head="torch.backends.cudnn.enabled = False\n"), CLEAN_LOOP),
    "anomaly": (
        loop(head="torch.autograd.set_detect_anomaly(True)\n"),
        loop(head="torch.autograd.set_detect_anomaly(False)\n"),
    ),
    "attention.unfused": (
        _MODULE.format("F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v"),
        _MODULE.format("F.scaled_dot_product_attention(q, k, v)"),
    ),
    "save.every-step": (
        loop('torch.save(model.state_dict(), "m.pt")'),
        loop('if step % 1000 == 0:\n    torch.save(model.state_dict(), "m.pt")'),
    ),
    "trainer.cpu": (_LIGHTNING.format('accelerator="cpu"'), _LIGHTNING.format('precision="bf16-mixed"')),
    "trainer.precision": (
        _TRAINER.format("dataloader_num_workers=4"), _TRAINER.format("bf16=True, dataloader_num_workers=4")
    ),
    "trainer.workers": (_TRAINER.format("bf16=True"), _TRAINER.format("bf16=True, dataloader_num_workers=4")),
    "trainer.checkpointing": (_TRAINER.format("gradient_checkpointing=True"), _TRAINER.format("bf16=True")),
    "trainer.logging": (_TRAINER.format("logging_steps=1"), _TRAINER.format("logging_steps=50")),
    "trainer.saving": (_TRAINER.format("save_steps=5"), _TRAINER.format("save_steps=500")),
    "lightning.precision": (_LIGHTNING.format("devices=1"), _LIGHTNING.format('precision="16-mixed"')),
    "lightning.manual-move": (_PL.format(".cuda()"), _PL.format("")),
    "keras.prefetch": (_KERAS.replace("data = data.prefetch(tf.data.AUTOTUNE)\n", ""), _KERAS),
    "keras.map": (_KERAS.replace(", num_parallel_calls=tf.data.AUTOTUNE", ""), _KERAS),
    "keras.cache": (_KERAS.replace(".cache()", ""), _KERAS),
    "keras.precision": (_KERAS.replace('keras.mixed_precision.set_global_policy("mixed_bfloat16")\n', ""), _KERAS),
    "keras.jit": (_KERAS.replace('loss="mse"', 'loss="mse", jit_compile=False'), _KERAS),
    "keras.eager": (_KERAS.replace('loss="mse"', 'loss="mse", run_eagerly=True'), _KERAS),
    "keras.no-function": (_TAPE.format(""), _TAPE.format("@tf.function")),
    "keras.predict": (
        _KERAS + "for one in images:\n    model.predict(one)\n", _KERAS + "scores = model.predict(images)\n"
    ),
}  # fmt: skip
