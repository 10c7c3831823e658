import math

import pytest

from planner.models.diffusion import diffusion_ids, diffusion_model
from planner.models.spec import ModelTask
from planner.models.vision import vision_ids, vision_model, vision_sources
from planner.result import InputError


def test_every_image_network_is_whole() -> None:
    ids = vision_ids()
    assert len(ids) == len(set(ids)) == 1829
    for id in ids:
        spec = vision_model(id)
        assert spec.task is ModelTask.VISION
        assert spec.image is not None
        assert spec.total_parameters == spec.image.parameters > 0
        assert spec.image.multiply_accumulates > 0
        assert spec.image.activation_elements > 0
        assert 32 <= spec.image.image_size <= 2048
        assert spec.source


def test_the_usual_size_needs_no_suffix() -> None:
    usual, large = vision_model("timm/resnet50"), vision_model("timm/resnet50@288")
    assert usual.image is not None
    assert large.image is not None
    assert usual.image.image_size == 224
    assert large.image.image_size == 288
    ratio = large.image.multiply_accumulates / usual.image.multiply_accumulates
    assert math.isclose(ratio, (288 / 224) ** 2, rel_tol=0.01)  # cost of a convolution follows the pixels


@pytest.mark.parametrize(
    ("id", "parameters", "billions"),
    [
        ("torchvision/resnet50", 25_557_032, 4.089),
        ("torchvision/vgg16", 138_357_544, 15.470),
        ("torchvision/efficientnet_b0", 5_288_548, 0.386),
        ("torchvision/vit_h_14@518", 633_470_440, 1016.717),
    ],
)
def test_torchvision_rows_are_exact(id: str, parameters: int, billions: float) -> None:
    spec = vision_model(id)
    assert spec.total_parameters == parameters
    assert spec.image is not None
    assert math.isclose(spec.image.multiply_accumulates, billions * 1e9, rel_tol=1e-3)


def test_two_tables_agree_on_one_network() -> None:
    timm, torchvision = vision_model("timm/resnet50").image, vision_model("torchvision/resnet50").image
    assert timm is not None
    assert torchvision is not None
    assert math.isclose(timm.activation_elements, torchvision.activation_elements, rel_tol=1e-3)
    assert math.isclose(timm.multiply_accumulates, torchvision.multiply_accumulates, rel_tol=1e-2)


def test_sources_are_dated() -> None:
    for source in vision_sources().values():
        assert source.url.startswith("https://")
        assert len(source.read) == 10


def test_a_pipeline_is_the_sum_of_its_components() -> None:
    flux = diffusion_model("diffusion/black-forest-labs/FLUX.1-dev")
    assert flux.total_parameters == 11_901_408_320 + 123_060_480 + 4_762_310_656 + 83_819_683
    assert flux.config["steps"]
    assert flux.dtype == "bfloat16"
    assert flux.assumed == ()


def test_a_lone_denoiser_says_so() -> None:
    assert diffusion_model("diffusion/black-forest-labs/FLUX.1-Fill-dev").assumed == ("denoiser-only",)


def test_an_all_in_one_file_adds_only_what_is_not_listed() -> None:
    refiner = diffusion_model("diffusion/stabilityai/stable-diffusion-xl-refiner-1.0")
    assert refiner.total_parameters == 3_037_840_364
    assert [part.role for part in refiner.components] == ["denoiser", "text encoder", "other"]


def test_every_pipeline_has_a_denoiser_and_a_source() -> None:
    assert len(diffusion_ids()) > 50
    for id in diffusion_ids():
        spec = diffusion_model(id)
        assert spec.task is ModelTask.DIFFUSION
        assert "denoiser" in {part.role for part in spec.components}
        assert all(part.parameters > 0 for part in spec.components)
        assert spec.source
        assert spec.dtype in {"float16", "bfloat16", "float32"}


@pytest.mark.parametrize("make", [vision_model, diffusion_model])
def test_unknown_ids_are_refused(make: object) -> None:
    with pytest.raises(InputError):
        make("timm/nothing" * 1000)  # type: ignore[operator]
