"""Training scripts in the shapes that people write, each with the few findings that it deserves."""

SHAPES: dict[str, tuple[str, set[str]]] = {
    "language model from scratch: accumulation, scaler, compile, evaluation now and then": (
        """
import math, time
from contextlib import nullcontext
import numpy as np
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from gpt import Model, Config

torch.backends.cuda.matmul.allow_tf32 = True
context = torch.amp.autocast("cuda", dtype={"bfloat16": torch.bfloat16, "float16": torch.float16}[kind])

def batch_of(part):
    data = np.memmap(f"{part}.bin", dtype=np.uint16, mode="r")
    starts = torch.randint(len(data) - length, (size,))
    x = torch.stack([torch.from_numpy(data[i : i + length].astype(np.int64)) for i in starts])
    return x.pin_memory().to(device, non_blocking=True)

model = Model(Config()).to(device)
scaler = torch.amp.GradScaler("cuda", enabled=kind == "float16")
optimizer = model.optimizers(decay, rate)
model = torch.compile(model)
model = DDP(model, device_ids=[local])

@torch.no_grad()
def estimate():
    model.eval()
    found = {}
    for part in ("train", "val"):
        values = torch.zeros(rounds)
        for k in range(rounds):
            with context:
                _, loss = model(batch_of(part))
            values[k] = loss.item()
        found[part] = values.mean()
    model.train()
    return found

while True:
    for group in optimizer.param_groups:
        group["lr"] = rate_at(done)
    if done % every == 0 and main_process:
        print(estimate())
        torch.save({"model": model.state_dict()}, "last.pt")
    if done == 0 and evaluate_only:
        break
    for micro in range(accumulate):
        model.require_backward_grad_sync = micro == accumulate - 1
        with context:
            _, loss = model(x)
            loss = loss / accumulate
        x = batch_of("train")
        scaler.scale(loss).backward()
    if clip:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    if done % log_every == 0 and main_process:
        print(done, loss.item() * accumulate)
    done += 1
    if done > last:
        break
""",
        set(),
    ),
    "fine-tuning with Accelerate: loss kept on the GPU, scores gathered in evaluation": (
        """
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, get_scheduler

accelerator = Accelerator(gradient_accumulation_steps=4)
train_loader = DataLoader(train, shuffle=True, batch_size=8, num_workers=4, pin_memory=True, persistent_workers=True)
eval_loader = DataLoader(held, batch_size=8, num_workers=4, pin_memory=True, persistent_workers=True)
model = AutoModelForCausalLM.from_pretrained(name)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
model, optimizer, train_loader, eval_loader = accelerator.prepare(model, optimizer, train_loader, eval_loader)
for epoch in range(epochs):
    model.train()
    total_loss = 0
    for step, batch in enumerate(train_loader):
        with accelerator.accumulate(model):
            outputs = model(**batch)
            loss = outputs.loss
            total_loss += loss.detach().float()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            progress.update(1)
        if isinstance(checkpointing_steps, int) and done % checkpointing_steps == 0:
            accelerator.save_state("step")
        if done >= last:
            break
    model.eval()
    losses = []
    for step, batch in enumerate(eval_loader):
        with torch.no_grad():
            outputs = model(**batch)
        losses.append(accelerator.gather_for_metrics(outputs.loss.repeat(8)))
    accelerator.log({"train": total_loss.item() / len(train_loader)})
""",
        set(),
    ),
    "image classification: averages every step, channels last, scaler object": (
        """
import time
import torch
import torchvision
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

torch.backends.cudnn.benchmark = True

def train_one_epoch(epoch, model, loader, optimizer, loss_fn, args, scaler=None):
    model.train()
    for index, (x, y) in enumerate(loader):
        last = index == len(loader) - 1
        update = last or (index + 1) % args.accumulate == 0
        x = x.to(args.device, non_blocking=True).contiguous(memory_format=torch.channels_last)
        y = y.to(args.device, non_blocking=True)
        with torch.amp.autocast("cuda"):
            loss = loss_fn(model(x), y) / args.accumulate
        if not update:
            with model.no_sync():
                scaler.scale(loss).backward()
            continue
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if last or index % args.log_interval == 0:
            print(epoch, index, loss.item())

def validate(model, loader):
    model.eval()
    with torch.inference_mode():
        for x, y in loader:
            out = model(x.to("cuda", non_blocking=True))
            right = (out.argmax(1).cpu() == y).sum().item()

sampler = DistributedSampler(images)
loader = DataLoader(images, sampler=sampler, num_workers=8, pin_memory=True, persistent_workers=True)
held = DataLoader(others, num_workers=8, pin_memory=True, persistent_workers=True)
model = torch.compile(torchvision.models.resnet50()).to("cuda", memory_format=torch.channels_last)
model = DistributedDataParallel(model, device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for epoch in range(90):
    sampler.set_epoch(epoch)
    train_one_epoch(epoch, model, loader, optimizer, torch.nn.CrossEntropyLoss(), args, scaler)
    validate(model, held)
    torch.save(model.state_dict(), "last.pt")
""",
        set(),
    ),
    "a Lightning module and its trainer": (
        """
import lightning as L
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

class Classifier(L.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.model(x), y), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=64, num_workers=8, pin_memory=True, persistent_workers=True)

trainer = L.Trainer(max_epochs=10, precision="bf16-mixed", accelerator="gpu", devices=4, strategy="ddp")
trainer.fit(Classifier())
""",
        set(),
    ),
    "the same trainer left at its defaults": (
        "import pytorch_lightning as pl\ntrainer = pl.Trainer(max_epochs=10)\ntrainer.fit(model, data)\n",
        {"lightning.precision"},
    ),
    "Trainer with arguments, metrics in NumPy": (
        """
import numpy as np
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def compute_metrics(pair):
    logits, labels = pair
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}

arguments = TrainingArguments("out", bf16=True, dataloader_num_workers=4, logging_steps=50, save_steps=500)
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
Trainer(model, arguments, train_dataset=train, eval_dataset=held, compute_metrics=compute_metrics).train()
""",
        set(),
    ),
    "Trainer whose arguments come from the command line": (
        """
from transformers import HfArgumentParser, Trainer, TrainingArguments
(arguments,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(model=model, args=arguments, train_dataset=train).train()
""",
        set(),
    ),
    "Keras fit over tf.data": (
        """
import tensorflow as tf
from tensorflow import keras
keras.mixed_precision.set_global_policy("mixed_bfloat16")
train = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
train = train.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(10_000).batch(64)
train = train.prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.layers.Dense(10)])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(train, epochs=5, callbacks=[keras.callbacks.ModelCheckpoint("best.keras")])
scores = model.predict(test)
""",
        set(),
    ),
    "Keras with a loop of its own, prints now and then": (
        """
import tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_float16")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(tf.data.AUTOTUNE)

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    return loss

for epoch in range(3):
    for step, (x, y) in enumerate(data):
        loss = train_step(x, y)
        if step % 200 == 0:
            print(step, float(loss))
""",
        set(),
    ),
    "the tutorial of DistributedDataParallel": (
        """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

class Trainer:
    def __init__(self, model, data, optimizer, gpu):
        self.model = DDP(model.to(gpu), device_ids=[gpu])
        self.data, self.optimizer, self.gpu = data, optimizer, gpu

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(source), targets)
        loss.backward()
        self.optimizer.step()

    def _run_epoch(self, epoch):
        self.data.sampler.set_epoch(epoch)
        for source, targets in self.data:
            source = source.to(self.gpu)
            targets = targets.to(self.gpu)
            self._run_batch(source, targets)

    def train(self, epochs):
        for epoch in range(epochs):
            self._run_epoch(epoch)
            if self.gpu == 0 and epoch % 10 == 0:
                torch.save(self.model.module.state_dict(), "checkpoint.pt")

dist.init_process_group("nccl")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = DataLoader(train_set, batch_size=32, pin_memory=True, shuffle=False, sampler=DistributedSampler(train_set))
Trainer(model, data, optimizer, gpu).train(10)
""",
        {"loader.workers", "transfer.blocking"},
    ),
    "a GAN: two losses, the graph kept on purpose": (
        """
import torch
from torch.utils.data import DataLoader
loader = DataLoader(images, num_workers=4, pin_memory=True, persistent_workers=True)
generator, critic = torch.compile(G().cuda()), torch.compile(D().cuda())
opt_g, opt_d = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
for epoch in range(50):
    for step, real in enumerate(loader):
        with torch.autocast("cuda", torch.bfloat16):
            fake = generator(torch.randn(64, 100, device="cuda"))
            loss_d = critic(fake).mean() - critic(real.cuda(non_blocking=True)).mean()
        opt_d.zero_grad()
        loss_d.backward(retain_graph=True)
        opt_d.step()
        loss_g = -critic(fake).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
""",
        set(),
    ),
    "policy gradient: losses collected and summed, then differentiated": (
        """
import torch
policy = Policy().to("cuda")
optimizer = torch.optim.Adam(policy.parameters())
torch.set_float32_matmul_precision("high")
policy = torch.compile(policy)
amp = torch.autocast("cuda", torch.bfloat16)
for episode in range(1000):
    log_probs, policy_loss = [], []
    state = env.reset()
    for t in range(200):
        action, log_prob = policy.act(state)
        log_probs.append(log_prob)
    for log_prob, gain in zip(log_probs, returns):
        policy_loss.append(-log_prob * gain)
    loss = torch.stack(policy_loss).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 50 == 0:
        print(episode, loss.item())
""",
        set(),
    ),
    "a beginner's notebook: everything on the GPU, loss summed with item": (
        """
import torch
from torch import nn
from torch.utils.data import DataLoader
device = "cuda" if torch.cuda.is_available() else "cpu"
loader = DataLoader(data, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(5):
    running_loss = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(epoch, running_loss / len(loader))
""",
        {"loader.workers", "loader.pin", "precision.none", "precision.tf32", "compile.none", "sync.item"},
    ),
    "no training at all": (
        "import torch\nmodel = torch.load('m.pt')\nprint(model(torch.zeros(1, 3).to('cuda')).item())\n",
        set(),
    ),
}
