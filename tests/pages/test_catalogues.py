"""The translations: every message of the source in both languages, and the compiled files in step with them."""

import io
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "assets" / "locale"
KEYWORDS = {"t": None, "n": (1, 2), "p": ((1, "c"), 2)}

Id = tuple[str | None, str | tuple[str, ...]]


def catalogue(language: str) -> Catalog:
    with (FOLDER / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return read_po(file, locale=language)


@pytest.fixture(scope="module")
def extracted() -> set[Id]:
    found = extract_from_dir(ROOT / "pages", [("**.py", "python")], keywords=KEYWORDS)
    return {(context, _key(message)) for _, _, message, _, context in found}


def _key(message: str | tuple[str, ...] | list[str]) -> str | tuple[str, ...]:
    return message if isinstance(message, str) else tuple(message)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_catalogue_has_exactly_the_messages_of_the_source(language: str, extracted: set[Id]) -> None:
    known = {(message.context, _key(message.id)) for message in catalogue(language) if message.id}
    assert sorted(map(str, extracted - known)) == [], "run the update of the catalogues, then translate"
    assert sorted(map(str, known - extracted)) == [], "no longer used"


def test_every_message_has_its_arabic() -> None:
    for message in catalogue("ar"):
        if not message.id:
            continue
        strings = [message.string] if isinstance(message.string, str) else list(message.string)
        assert len(strings) == (1 if isinstance(message.id, str) else 6), message.id
        assert all(strings), message.id


@pytest.mark.parametrize("language", ["en", "ar"])
def test_nothing_is_marked_doubtful(language: str) -> None:
    assert [message.id for message in catalogue(language) if message.id and message.fuzzy] == []


def test_placeholders_are_the_same_in_arabic() -> None:
    for message in catalogue("ar"):
        if not message.id:
            continue
        if isinstance(message.id, str):
            assert _placeholders(message.string) == _placeholders(message.id), message.id
        else:  # the forms for none, one and two may say the count in words
            wanted = _placeholders(message.id[1])
            for form in message.string:
                assert wanted - {"count"} <= _placeholders(form) <= wanted, form
            assert all(_placeholders(form) == wanted for form in message.string[3:]), message.id


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("language", ["en", "ar"])
def test_compiled_catalogues_are_up_to_date(language: str) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(language))
    assert (FOLDER / language / "LC_MESSAGES" / "messages.mo").read_bytes() == compiled.getvalue()
