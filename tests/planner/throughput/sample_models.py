"""Models that the tests of this folder share."""

import speed_accuracy as measured

LLAMA = {
    "id": "llama-8b",
    "family": "llama",
    "layers": "32",
    "hidden": "4096",
    "heads": "32",
    "kv_heads": "8",
    "head_dim": "128",
    "ffn": "14336",
    "vocabulary": "128256",
    "experts": "",
}
MODEL = measured.decoder(LLAMA)
SPARSE = measured.decoder({**LLAMA, "ffn": "1024", "experts": "64", "top_k": "8"})
IMAGES = measured.image_network(
    {"id": "resnet50", "gmacs": "4.11", "macts_m": "11.11", "params_m": "25.56", "image_size": "224"}
)
