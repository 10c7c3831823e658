"""The text decoder of a configuration, whole or nested in a multimodal one."""

from planner.models.config import Config
from planner.models.families import generic
from planner.models.families.registry import BUILDERS
from planner.models.spec import ModelSpec


def decoder_of(config: Config, default: str = "llama") -> ModelSpec:
    """The causal language model that `config` describes, e.g. the `text_config` of a vision-language model.

    `default` is the model_type to take where the configuration names none. An unknown one is built as Llama-like.
    """
    model_type = config.text("model_type", default=default)
    if not config.has("model_type"):
        config = Config({**config.values, "model_type": default}, config.path)
    return BUILDERS.get(model_type, generic.build_assumed)(config)
