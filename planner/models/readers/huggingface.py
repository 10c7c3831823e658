"""Hugging Face configurations: pasted, uploaded, or fetched from the Hub by id (config.json only, nothing run)."""

import re
from pathlib import Path
from typing import Any

from planner.models.build import build
from planner.models.readers.json_text import MIB, fail, parse_json
from planner.models.spec import ModelSpec

LARGEST_CONFIG = 2 * MIB

_HUB_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def read_config(data: bytes | str, *, id: str = "", name: str = "") -> ModelSpec:
    """The model that a config.json describes."""
    return build(parse_json(data, limit=LARGEST_CONFIG, infinite=True), id=id, name=name)


def fetch_config(hub_id: str, *, timeout: float = 10.0, token: str | None = None) -> dict[str, Any]:
    """The config.json of a repository on the Hub, within `timeout` seconds for each answer.

    Raises `InputError`: bad-hub-id, hub-not-found, hub-gated, hub-offline, or what is wrong with the file.
    """
    hub_id = hub_id.strip()
    if not _HUB_ID.fullmatch(hub_id) or ".." in hub_id or "--" in hub_id:
        fail("bad-hub-id", hub_id[:200], field="hub_id")
    return parse_json(_download(hub_id, timeout, token), limit=LARGEST_CONFIG, infinite=True)


def _download(hub_id: str, timeout: float, token: str | None) -> bytes:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        metadata = get_hf_file_metadata(hf_hub_url(hub_id, "config.json"), timeout=timeout, token=token)
        if metadata.size is not None and metadata.size > LARGEST_CONFIG:
            fail("too-large", metadata.size, limit=LARGEST_CONFIG)
        path = hf_hub_download(hub_id, "config.json", token=token, etag_timeout=timeout)
        with Path(path).open("rb") as file:
            return file.read(LARGEST_CONFIG + 1)
    except GatedRepoError:
        fail("hub-gated", hub_id, field="hub_id")
    except LocalEntryNotFoundError as error:  # could not ask, and has no copy
        fail("hub-offline", hub_id, field="hub_id", reason=type(error).__name__)
    except (RepositoryNotFoundError, EntryNotFoundError):
        fail("hub-not-found", hub_id, field="hub_id")
    except HFValidationError:
        fail("bad-hub-id", hub_id, field="hub_id")
    except Exception as error:  # no route, no name, timed out, server trouble: OSError, or the HTTP library's own kind
        if not isinstance(error, (OSError, *HfHubHTTPError.__bases__)):
            raise
        fail("hub-offline", hub_id, field="hub_id", reason=type(error).__name__)
