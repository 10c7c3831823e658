"""Sentences for what may be wrong with a file, a configuration or a repository that the user brings."""

from pages.ui.words.sentence import Sentence, listed

FILE_PROBLEMS: dict[str, Sentence] = {
    "store-unreachable": lambda text, q: text.t(
        "What is saved cannot be read or written now ({reason}). Planning goes on; check the folder or DATABASE_URL.",
        reason=str(q["reason"]),
    ),
    "store-from-future": lambda text, q: text.t(
        "A newer version of GPU Planner made this database (revision {value}). Update the program to use it.",
        value=str(q["value"]),
    ),
    "store-busy": lambda text, q: text.t("The database was busy. Try again."),
    "not-an-email": lambda text, q: text.t("“{value}” is not an e-mail address.", value=str(q["value"])),
    "last-admin": lambda text, q: text.t("A team keeps at least one admin. Make somebody else admin first."),
    "not-a-scenario": lambda text, q: text.t("This file is no capacity scenario."),
    "not-a-date": lambda text, q: text.t(
        "{field}: “{value}” is no date. Write it as 2026-12-31.", field=q["field"], value=str(q["value"])
    ),
    "name-taken": lambda text, q: text.t(
        "{field}: an earlier row is called “{value}”. Give each its own name.", field=q["field"], value=str(q["value"])
    ),
    "not-an-archive": lambda text, q: text.t("This file was not made by “Download everything”."),
    "archive-from-future": lambda text, q: text.t(
        "This file has version {value}; this program reads version {known}. Update it.",
        value=str(q["value"]),
        known=q["known"],
    ),
    "bad-hub-id": lambda text, q: text.t(
        "“{value}” is not the name of a repository. Write it as publisher/model, such as Qwen/Qwen3-8B.",
        value=str(q["value"]),
    ),
    "hub-offline": lambda text, q: text.t(
        "The Hugging Face Hub cannot be reached from this machine. Paste the model's config.json instead."
    ),
    "hub-not-found": lambda text, q: text.t(
        "The Hub has no repository “{value}” with a config.json. Check the spelling.", value=str(q["value"])
    ),
    "hub-gated": lambda text, q: text.t(
        "“{value}” is gated: its terms must be accepted on the Hub first. Or paste its config.json here.",
        value=str(q["value"]),
    ),
    "not-gguf": lambda text, q: text.t("This is not a GGUF file: it does not begin as one."),
    "not-safetensors": lambda text, q: text.t(
        "This is neither a configuration nor a safetensors or GGUF file. Give one of these, or its first megabytes."
    ),
    "unsupported-version": lambda text, q: text.t(
        "GGUF version {value} is not read; versions 2 and 3 are.", value=str(q["value"])
    ),
    "header-too-large": lambda text, q: text.t(
        "The file's header claims {value} bytes, more than the {limit} that a real one has. It is damaged.",
        value=q["value"],
        limit=q["limit"],
    ),
    "header-truncated": lambda text, q: text.t(
        "The file ends within its header. Give at least its first {expected} bytes.", expected=q.get("expected", "")
    ),
    "too-many": lambda text, q: text.t(
        "The file claims {value} entries, more than the {limit} that a real one has. It is damaged.",
        value=q["value"],
        limit=q["limit"],
    ),
    "too-many-tensors": lambda text, q: text.t(
        "The file lists {value} tensors, more than the {limit} that a real one has.", value=q["value"], limit=q["limit"]
    ),
    "nested-array": lambda text, q: text.t("The file's metadata nests lists in lists, which GGUF files do not."),
    "unknown-value-type": lambda text, q: text.t("The file's metadata has a value of an unknown type. It is damaged."),
    "unknown-dtype": lambda text, q: text.t(
        "The tensors have a type that is not known here: “{value}”.", value=str(q["value"])
    ),
    "bad-tensor": lambda text, q: text.t("The entry of tensor “{value}” is damaged.", value=str(q["value"])),
    "duplicate-tensor": lambda text, q: text.t("The tensor “{value}” is listed twice.", value=str(q["value"])),
    "overlapping-tensors": lambda text, q: text.t(
        "The tensor “{value}” lies over another one. The file is damaged.", value=str(q["value"])
    ),
    "size-mismatch": lambda text, q: text.t(
        "The size of tensor “{value}” does not follow from its shape. The file is damaged.", value=str(q["value"])
    ),
    "cannot-infer": lambda text, q: text.t(
        "The tensors alone do not tell the model's shape ({missing}). Give its config.json.",
        missing=listed(text, q.get("missing") or q.get("unknown") or [q["value"]]),
    ),
    "incomplete-checkpoint": lambda text, q: text.t(
        "This is one file of several: it lacks layers or the embedding. Give the model's config.json."
    ),
    "unreadable-file": lambda text, q: text.t("The file cannot be read as a table."),
    "empty-table": lambda text, q: text.t("The table has no rows."),
    "missing-columns": lambda text, q: text.t("{field}: the table lacks columns that are needed.", field=q["field"]),
}
