"""English sentences of the command line for the rules of the check of code. The page has its own, in every language."""

RULES = {
    "device.cpu": (
        "Nothing is put on a GPU",
        "The model and its batches stay on the processor: the GPU is not used at all.",
    ),
    "device.made-on-cpu": (
        "A tensor is made on the CPU and copied in every step",
        "Made directly on the GPU it costs neither the copy nor the wait for it.",
    ),
    "loader.workers": (
        "The data loader has no workers",
        "Batches are read and prepared in the training process itself while the GPU waits.",
    ),
    "loader.pin": (
        "The data loader does not pin memory",
        "From pageable memory every copy to the GPU is slower and cannot overlap with computing.",
    ),
    "loader.persistent": (
        "The loader's workers are started anew in every epoch",
        "Starting them takes seconds, at the beginning of each epoch, with the GPU idle.",
    ),
    "loader.prefetch": (
        "The loader's workers keep one batch ahead only",
        "A single slow batch then stops the GPU; two or more even it out.",
    ),
    "transfer.blocking": (
        "Copies to the GPU wait although memory is pinned",
        "With non_blocking=True the copy overlaps with the work that is already queued.",
    ),
    "cpu.tokenize": (
        "Text is tokenised inside the training loop",
        "The GPU waits for the processor in every step; do it once before, or in the loader's workers.",
    ),
    "cpu.read-file": (
        "Files are read inside the training loop",
        "Reading and decoding belong in a data set that the loader's workers call.",
    ),
    "precision.none": (
        "Training runs in full 32-bit precision",
        "Mixed precision uses the tensor cores: usually twice as fast or more, with less memory for activations.",
    ),
    "precision.tf32": (
        "TF32 is not allowed for 32-bit products",
        "On Ampere and newer one line lets 32-bit matrix products use the tensor cores.",
    ),
    "scaler.clip": (
        "Gradients are clipped before they are unscaled",
        "The limit then applies to scaled gradients: it cuts almost everything. The result is wrong.",
    ),
    "scaler.update": (
        "The gradient scaler is never updated",
        "Its scale stays as it began: after an overflow every step is skipped.",
    ),
    "scaler.step": (
        "The loss is scaled but the optimizer steps by itself",
        "The gradients are never unscaled, so each step is thousands of times too long.",
    ),
    "scaler.bf16": (
        "A gradient scaler is used with bf16",
        "bf16 has the range of fp32: nothing underflows, and the scaler only adds a wait in each step.",
    ),
    "sync.item": (
        "A value is fetched from the GPU in every step",
        "The processor waits until all queued work is done, and the next step starts late. Fetch it every n steps.",
    ),
    "sync.to-host": (
        "A tensor is copied to the CPU in every step",
        "The processor waits for the GPU and for the copy. Keep it on the GPU and copy once.",
    ),
    "sync.print": (
        "A loss is printed or shown in every step",
        "Printing a tensor fetches it from the GPU, and that waits. Print every n steps.",
    ),
    "sync.branch": (
        "A condition asks for a value on the GPU in every step",
        "The processor cannot go on before the GPU has answered. Ask every n steps.",
    ),
    "sync.synchronize": (
        "The GPU is waited for in every step",
        "Only a measurement of time needs torch.cuda.synchronize().",
    ),
    "sync.empty-cache": (
        "The memory cache is emptied in every step",
        "Each step then asks the driver for memory again, which takes milliseconds and waits. It "
        "frees nothing you could use.",
    ),
    "sync.gc": (
        "Garbage is collected in every step",
        "It takes tens of milliseconds in which nothing is queued for the GPU.",
    ),
    "leak.kept-graph": (
        "Losses are kept together with their graph",
        "Every kept loss holds the activations of its step: memory grows until it runs out.",
    ),
    "leak.retain-graph": (
        "The graph is retained after its only use",
        "The activations stay in memory until the next step overwrites them.",
    ),
    "grad.zero": (
        "Gradients are filled with zeros",
        "Setting them to None saves a pass over all of them, and their memory between steps.",
    ),
    "eval.grad": (
        "Evaluation records gradients",
        "Without no_grad or inference_mode all activations are kept: more memory than training, and slower.",
    ),
    "eval.mode": (
        "The model is never switched to evaluation",
        "Dropout stays on and batch statistics change: the scores are wrong.",
    ),
    "eval.never-back": (
        "The model is not switched back to training",
        "After the first evaluation the rest of the training runs without dropout and with fixed statistics.",
    ),
    "parallel.data-parallel": (
        "DataParallel is used",
        "One process drives all GPUs and copies the model in every step. DistributedDataParallel "
        "is faster, even on one machine.",
    ),
    "ddp.sampler": (
        "Every GPU reads the same data",
        "Without a DistributedSampler all ranks train on all the data: the work is done as often as there are GPUs.",
    ),
    "ddp.set-epoch": (
        "The distributed sampler is not told of the epoch",
        "Without set_epoch every epoch has the same order.",
    ),
    "ddp.no-sync": (
        "Gradients are exchanged in every micro-step",
        "While accumulating, no_sync() exchanges them once for each step of the optimizer.",
    ),
    "ddp.find-unused": (
        "Unused parameters are searched for in every step",
        "That walks the whole graph again. It is needed only where some outputs take no part in the loss.",
    ),
    "compile.none": (
        "The model is not compiled",
        "torch.compile fuses small operations: less launch time and less memory traffic. Try it and measure.",
    ),
    "layout.channels-last": (
        "Convolutions run in the default memory layout",
        "Tensor cores want channels_last; with mixed precision it is often a fifth faster.",
    ),
    "cudnn.benchmark": (
        "cuDNN does not look for the fastest kernels",
        "With images of one size, benchmark mode tries them once and keeps the best.",
    ),
    "cudnn.deterministic": (
        "Deterministic kernels are asked for",
        "They are slower. Keep them only where runs must repeat bit by bit.",
    ),
    "cudnn.off": ("cuDNN is turned off", "Convolutions and recurrent layers fall back to much slower kernels."),
    "anomaly": (
        "Anomaly detection is on",
        "It records a stack for every operation and checks every gradient: several times slower. It is for debugging.",
    ),
    "attention.unfused": (
        "Attention is written out step by step",
        "The full matrix of scores goes to memory and back. scaled_dot_product_attention never writes it.",
    ),
    "save.every-step": (
        "A checkpoint is written in every step",
        "The GPU stands still while the file is written. Save every n steps.",
    ),
    "trainer.cpu": ("The trainer is told to use the CPU", "The GPU is not used at all."),
    "trainer.precision": (
        "The Trainer runs in 32-bit precision",
        "bf16=True (fp16=True before Ampere) uses the tensor cores.",
    ),
    "trainer.workers": (
        "The Trainer loads data in its own process",
        "dataloader_num_workers is 0 unless given: the GPU waits for each batch.",
    ),
    "trainer.checkpointing": (
        "Activations are recomputed",
        "gradient_checkpointing makes each step about a quarter longer. It is worth it only where "
        "memory would not suffice.",
    ),
    "trainer.logging": ("The trainer logs in every step", "Each line fetches the loss from the GPU."),
    "trainer.saving": (
        "The Trainer saves every few steps",
        "The GPU stands still while weights and optimizer are written.",
    ),
    "lightning.precision": (
        "Lightning's Trainer runs in 32-bit precision",
        'precision="bf16-mixed" uses the tensor cores.',
    ),
    "lightning.manual-move": (
        "A Lightning module moves tensors by itself",
        "Batches are on the device already; a hard-coded device breaks on several GPUs.",
    ),
    "keras.prefetch": (
        "The input pipeline does not prefetch",
        "The next batch is prepared only after the step has ended, while the GPU waits.",
    ),
    "keras.map": ("Samples are mapped one at a time", "num_parallel_calls uses the other processor cores."),
    "keras.cache": (
        "Decoded samples are not cached",
        "Each epoch decodes all of them again. cache() keeps them, where they fit into memory.",
    ),
    "keras.precision": (
        "Keras trains in 32-bit precision",
        "A mixed-precision policy uses the tensor cores: usually twice as fast or more.",
    ),
    "keras.jit": ("Compiling by XLA is turned off", "jit_compile=True fuses small operations."),
    "keras.eager": ("The model runs eagerly", "Each operation goes through Python. Use it for debugging only."),
    "keras.no-function": (
        "The training step is not a tf.function",
        "Each operation of the step goes through Python instead of one compiled graph.",
    ),
    "keras.predict": (
        "predict is called in a loop",
        "Each call sets up a pipeline of its own. Predict on all inputs at once, or call the model itself.",
    ),
}
"""What was found and why it costs, by the id of the rule."""
