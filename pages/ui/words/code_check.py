"""Words for the check of code: what each rule found, why it costs, and how much."""

from functools import lru_cache

from pages.ui.text import Text
from planner.code_check.finding import Severity


def severity_name(text: Text, severity: Severity) -> str:
    """How much a finding usually costs, in a word."""
    return {
        Severity.HIGH: text.p("cost", "High"),
        Severity.MEDIUM: text.p("cost", "Medium"),
        Severity.LOW: text.p("cost", "Low"),
    }[severity]


def title(text: Text, id: str) -> str:
    """What was found, in a sentence."""
    return _rules(text)[id][0]


def reason(text: Text, id: str) -> str:
    """Why it costs."""
    return _rules(text)[id][1]


@lru_cache
def _rules(text: Text) -> dict[str, tuple[str, str]]:
    return {
        "device.cpu": (
            text.t("Nothing is put on a GPU"),
            text.t("The model and its batches stay on the processor: the GPU is not used at all."),
        ),
        "device.made-on-cpu": (
            text.t("A tensor is made on the CPU and copied in every step"),
            text.t("Made directly on the GPU it costs neither the copy nor the wait for it."),
        ),
        "loader.workers": (
            text.t("The data loader has no workers"),
            text.t("Batches are read and prepared in the training process itself while the GPU waits."),
        ),
        "loader.pin": (
            text.t("The data loader does not pin memory"),
            text.t("From pageable memory every copy to the GPU is slower and cannot overlap with computing."),
        ),
        "loader.persistent": (
            text.t("The loader's workers are started anew in every epoch"),
            text.t("Starting them takes seconds, at the beginning of each epoch, with the GPU idle."),
        ),
        "loader.prefetch": (
            text.t("The loader's workers keep one batch ahead only"),
            text.t("A single slow batch then stops the GPU; two or more even it out."),
        ),
        "transfer.blocking": (
            text.t("Copies to the GPU wait although memory is pinned"),
            text.t("With non_blocking=True the copy overlaps with the work that is already queued."),
        ),
        "cpu.tokenize": (
            text.t("Text is tokenised inside the training loop"),
            text.t("The GPU waits for the processor in every step; do it once before, or in the loader's workers."),
        ),
        "cpu.read-file": (
            text.t("Files are read inside the training loop"),
            text.t("Reading and decoding belong in a data set that the loader's workers call."),
        ),
        "precision.none": (
            text.t("Training runs in full 32-bit precision"),
            text.t(
                "Mixed precision uses the tensor cores: usually twice as fast or more, with less memory "
                "for activations."
            ),
        ),
        "precision.tf32": (
            text.t("TF32 is not allowed for 32-bit products"),
            text.t("On Ampere and newer one line lets 32-bit matrix products use the tensor cores."),
        ),
        "scaler.clip": (
            text.t("Gradients are clipped before they are unscaled"),
            text.t("The limit then applies to scaled gradients: it cuts almost everything. The result is wrong."),
        ),
        "scaler.update": (
            text.t("The gradient scaler is never updated"),
            text.t("Its scale stays as it began: after an overflow every step is skipped."),
        ),
        "scaler.step": (
            text.t("The loss is scaled but the optimizer steps by itself"),
            text.t("The gradients are never unscaled, so each step is thousands of times too long."),
        ),
        "scaler.bf16": (
            text.t("A gradient scaler is used with bf16"),
            text.t("bf16 has the range of fp32: nothing underflows, and the scaler only adds a wait in each step."),
        ),
        "sync.item": (
            text.t("A value is fetched from the GPU in every step"),
            text.t(
                "The processor waits until all queued work is done, and the next step starts late. Fetch "
                "it every n steps."
            ),
        ),
        "sync.to-host": (
            text.t("A tensor is copied to the CPU in every step"),
            text.t("The processor waits for the GPU and for the copy. Keep it on the GPU and copy once."),
        ),
        "sync.print": (
            text.t("A loss is printed or shown in every step"),
            text.t("Printing a tensor fetches it from the GPU, and that waits. Print every n steps."),
        ),
        "sync.branch": (
            text.t("A condition asks for a value on the GPU in every step"),
            text.t("The processor cannot go on before the GPU has answered. Ask every n steps."),
        ),
        "sync.synchronize": (
            text.t("The GPU is waited for in every step"),
            text.t("Only a measurement of time needs torch.cuda.synchronize()."),
        ),
        "sync.empty-cache": (
            text.t("The memory cache is emptied in every step"),
            text.t(
                "Each step then asks the driver for memory again, which takes milliseconds and waits. It "
                "frees nothing you could use."
            ),
        ),
        "sync.gc": (
            text.t("Garbage is collected in every step"),
            text.t("It takes tens of milliseconds in which nothing is queued for the GPU."),
        ),
        "leak.kept-graph": (
            text.t("Losses are kept together with their graph"),
            text.t("Every kept loss holds the activations of its step: memory grows until it runs out."),
        ),
        "leak.retain-graph": (
            text.t("The graph is retained after its only use"),
            text.t("The activations stay in memory until the next step overwrites them."),
        ),
        "grad.zero": (
            text.t("Gradients are filled with zeros"),
            text.t("Setting them to None saves a pass over all of them, and their memory between steps."),
        ),
        "eval.grad": (
            text.t("Evaluation records gradients"),
            text.t(
                "Without no_grad or inference_mode all activations are kept: more memory than training, and slower."
            ),
        ),
        "eval.mode": (
            text.t("The model is never switched to evaluation"),
            text.t("Dropout stays on and batch statistics change: the scores are wrong."),
        ),
        "eval.never-back": (
            text.t("The model is not switched back to training"),
            text.t(
                "After the first evaluation the rest of the training runs without dropout and with fixed statistics."
            ),
        ),
        "parallel.data-parallel": (
            text.t("DataParallel is used"),
            text.t(
                "One process drives all GPUs and copies the model in every step. DistributedDataParallel "
                "is faster, even on one machine."
            ),
        ),
        "ddp.sampler": (
            text.t("Every GPU reads the same data"),
            text.t(
                "Without a DistributedSampler all ranks train on all the data: the work is done as often "
                "as there are GPUs."
            ),
        ),
        "ddp.set-epoch": (
            text.t("The distributed sampler is not told of the epoch"),
            text.t("Without set_epoch every epoch has the same order."),
        ),
        "ddp.no-sync": (
            text.t("Gradients are exchanged in every micro-step"),
            text.t("While accumulating, no_sync() exchanges them once for each step of the optimizer."),
        ),
        "ddp.find-unused": (
            text.t("Unused parameters are searched for in every step"),
            text.t("That walks the whole graph again. It is needed only where some outputs take no part in the loss."),
        ),
        "compile.none": (
            text.t("The model is not compiled"),
            text.t(
                "torch.compile fuses small operations: less launch time and less memory traffic. Try it and measure."
            ),
        ),
        "layout.channels-last": (
            text.t("Convolutions run in the default memory layout"),
            text.t("Tensor cores want channels_last; with mixed precision it is often a fifth faster."),
        ),
        "cudnn.benchmark": (
            text.t("cuDNN does not look for the fastest kernels"),
            text.t("With images of one size, benchmark mode tries them once and keeps the best."),
        ),
        "cudnn.deterministic": (
            text.t("Deterministic kernels are asked for"),
            text.t("They are slower. Keep them only where runs must repeat bit by bit."),
        ),
        "cudnn.off": (
            text.t("cuDNN is turned off"),
            text.t("Convolutions and recurrent layers fall back to much slower kernels."),
        ),
        "anomaly": (
            text.t("Anomaly detection is on"),
            text.t(
                "It records a stack for every operation and checks every gradient: several times slower. "
                "It is for debugging."
            ),
        ),
        "attention.unfused": (
            text.t("Attention is written out step by step"),
            text.t("The full matrix of scores goes to memory and back. scaled_dot_product_attention never writes it."),
        ),
        "save.every-step": (
            text.t("A checkpoint is written in every step"),
            text.t("The GPU stands still while the file is written. Save every n steps."),
        ),
        "trainer.cpu": (text.t("The trainer is told to use the CPU"), text.t("The GPU is not used at all.")),
        "trainer.precision": (
            text.t("The Trainer runs in 32-bit precision"),
            text.t("bf16=True (fp16=True before Ampere) uses the tensor cores."),
        ),
        "trainer.workers": (
            text.t("The Trainer loads data in its own process"),
            text.t("dataloader_num_workers is 0 unless given: the GPU waits for each batch."),
        ),
        "trainer.checkpointing": (
            text.t("Activations are recomputed"),
            text.t(
                "gradient_checkpointing makes each step about a quarter longer. It is worth it only where "
                "memory would not suffice."
            ),
        ),
        "trainer.logging": (
            text.t("The trainer logs in every step"),
            text.t("Each line fetches the loss from the GPU."),
        ),
        "trainer.saving": (
            text.t("The Trainer saves every few steps"),
            text.t("The GPU stands still while weights and optimizer are written."),
        ),
        "lightning.precision": (
            text.t("Lightning's Trainer runs in 32-bit precision"),
            text.t('precision="bf16-mixed" uses the tensor cores.'),
        ),
        "lightning.manual-move": (
            text.t("A Lightning module moves tensors by itself"),
            text.t("Batches are on the device already; a hard-coded device breaks on several GPUs."),
        ),
        "keras.prefetch": (
            text.t("The input pipeline does not prefetch"),
            text.t("The next batch is prepared only after the step has ended, while the GPU waits."),
        ),
        "keras.map": (
            text.t("Samples are mapped one at a time"),
            text.t("num_parallel_calls uses the other processor cores."),
        ),
        "keras.cache": (
            text.t("Decoded samples are not cached"),
            text.t("Each epoch decodes all of them again. cache() keeps them, where they fit into memory."),
        ),
        "keras.precision": (
            text.t("Keras trains in 32-bit precision"),
            text.t("A mixed-precision policy uses the tensor cores: usually twice as fast or more."),
        ),
        "keras.jit": (text.t("Compiling by XLA is turned off"), text.t("jit_compile=True fuses small operations.")),
        "keras.eager": (
            text.t("The model runs eagerly"),
            text.t("Each operation goes through Python. Use it for debugging only."),
        ),
        "keras.no-function": (
            text.t("The training step is not a tf.function"),
            text.t("Each operation of the step goes through Python instead of one compiled graph."),
        ),
        "keras.predict": (
            text.t("predict is called in a loop"),
            text.t("Each call sets up a pipeline of its own. Predict on all inputs at once, or call the model itself."),
        ),
    }
