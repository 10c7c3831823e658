"""The input batch on the GPU: token ids, labels and a mask in 64-bit integers, images in fp32."""

from planner.memory.activations import stack_tokens
from planner.models.spec import ModelTask
from planner.numeric import Number
from planner.result import Formula
from planner.workload import Training

BATCH = Formula(
    id="mem.batch",
    unit="bytes",
    latex=r"8 n b s + 4 \cdot 3 \, b \, n_{\text{images}} \, \text{side}^2",
    source="Hugging Face data collators: int64 input_ids, labels and attention_mask; fp32 pixel values",
)

INTEGER = 8
PIXEL = 3 * 4  # three channels in fp32


def batch_bytes(request: Training) -> Number:
    """Bytes of one micro-batch of inputs."""
    model, pixels = request.model, request.image_size**2 * PIXEL
    if model.text_stack is None or model.task is ModelTask.VISION:
        return request.micro_batch_size * (pixels + INTEGER)
    tokens, _ = stack_tokens(request, model.text_stack)
    images = request.micro_batch_size * request.images_per_sample * pixels
    return tokens * INTEGER * (3 if request.padding_mask else 2) + images
