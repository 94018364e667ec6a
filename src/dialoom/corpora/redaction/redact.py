"""Personal values out of a dialogue, typed placeholders in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from dialoom.corpora.redaction.names import name_pattern, names_in
from dialoom.corpora.redaction.patterns import replaced
from dialoom.corpora.redaction.questions import Asked, answering
from dialoom.corpora.redaction.values import TYPES, field_type, marked
from dialoom.corpora.redaction.words import ORDINARY_WORDS, words_of
from dialoom.dialogue import Dialogue, Role, Utterance

_SHARED = ("name", "agent", "url", "handle")
"""Types that are not told apart by who said them first."""
_CUED = ("order", "account", "card", "ssn", "secret", "handle", "address", "birthdate")
"""Types that are found by the words around them, and then wherever the value is said again."""
_KEPT = re.compile("\ue000([\ue001-\uf8ff])")
"""Stands for a value that is kept, so that no later recogniser takes a part of it."""
PLACEHOLDER = re.compile(rf"<(?:our-)?({'|'.join(TYPES)})>")
_SURNAME = re.compile(r"(<(?:name|agent)>) ([A-Z][a-z]+(?:-[A-Z][a-z]+)?)(?![\w'’])")
_CAPITALISED = re.compile(r"(?<![\w<])[A-Z][a-z]{2,}(?![\w>])")
_YOURS = re.compile(
    r"(?P<before>\byour (?:[\w-]+ ){1,3}?|)<our-(?P<type>phone|email|address)>(?P<after> (?:still |is )?your\b|)",
    re.IGNORECASE,
)
"""The system asks whether a value is still the customer's."""
_AGAIN = re.compile(r"<(name|agent)>(?: <\1>)+")


def redact(dialogue: Dialogue, *, names: Iterable[str] = (), keep: Collection[str] = ()) -> Dialogue:
    """The dialogue with every personal value that is recognised replaced by a placeholder such as `<name>`.

    Texts, annotations and metadata are redacted alike; tags and actions are left. A name found anywhere is replaced
    everywhere in the dialogue. `names` are known beforehand; `keep` are values that stay, such as your own hotline. A
    value that the system said before anybody else becomes `<our-phone>` and so on, because it is not the customer's. An
    id that is itself an e-mail address or phone number is replaced by a digest. Redacting twice changes nothing more.
    """
    return _Redaction(dialogue, names, keep).result()


class _Redaction:
    """One dialogue's pass: values by shape first, then what is marked, then names."""

    def __init__(self, dialogue: Dialogue, names: Iterable[str], keep: Collection[str]) -> None:
        self._dialogue = dialogue
        self._keep = {_plain(value) for value in keep}
        self._first: dict[str, Role] = {}
        self._texts: dict[tuple[str, Role], str] = {}
        known: dict[str, str] = {}
        people = {name: "name" for name in names if _plain(name) not in self._keep}
        for kind, value in marked(dialogue):
            if PLACEHOLDER.search(value) or _plain(value) in self._keep:
                continue
            self._first.setdefault(_plain(value), Role.USER)
            if kind in ("name", "agent"):
                if value.lower() not in ORDINARY_WORDS:
                    people.setdefault(value, kind)
            elif len(value) > 2 and value.lower() not in ORDINARY_WORDS:
                known.setdefault(value.lower(), kind)
        self._known = dict(known)
        self._known_pattern = _any_of(known)
        self._local_parts: set[str] = set()
        turns = [(utterance.role, utterance.text) for utterance in dialogue.utterances]
        asked = list(answering(turns))
        self._shaped = [self._by_shape(text, role, of) for (role, text), of in zip(turns, asked, strict=True)]
        if self._known.keys() > known.keys():  # a number said to be an order's is one wherever it stands
            self._known_pattern = _any_of(self._known)
            self._shaped = [
                self._by_shape(text, role, of) for text, (role, _), of in zip(self._shaped, turns, asked, strict=True)
            ]
        if self._local_parts:
            spelled = self._spelled()
            people |= {name: people.get(name, "name") for name in spelled if _plain(name) not in self._keep}
        self._names: tuple[re.Pattern[str], dict[str, str]] | None = None
        self._names = self._names_of(people)

    def _names_of(self, people: dict[str, str]) -> tuple[re.Pattern[str], dict[str, str]] | None:
        """The pattern of all names; looked for again while a name taken out brings another one to light."""
        roles = [utterance.role for utterance in self._dialogue.utterances]
        self._names = name_pattern(people)
        seen: set[tuple[Role, str, bool]] = set()
        while True:
            texts = self._shaped if self._names is None else map(self._without_names, self._shaped)
            found = names_in(zip(roles, texts, strict=True), seen)
            new = {k: v for k, v in found.items() if k not in people and _plain(k) not in self._keep}
            if not new:
                return self._names
            people |= new
            self._names = name_pattern(people)

    def result(self) -> Dialogue:
        utterances = tuple(map(self._utterance, self._dialogue.utterances, self._shaped))
        metadata = self._value(self._dialogue.metadata, Role.USER) if self._dialogue.metadata else {}
        name = self._id(self._dialogue.id)
        if (
            utterances == self._dialogue.utterances
            and metadata == self._dialogue.metadata
            and name == self._dialogue.id
        ):
            return self._dialogue
        return replace(self._dialogue, id=name, utterances=utterances, metadata=metadata)

    def _utterance(self, utterance: Utterance, shaped: str) -> Utterance:
        text = self._without_names(shaped)
        annotations = self._value(utterance.annotations, utterance.role) if utterance.annotations else {}
        if text == utterance.text and annotations == utterance.annotations:
            return utterance
        return replace(utterance, text=text, annotations=annotations)

    def _spelled(self) -> set[str]:
        """Capitalised words that also stand in an e-mail address of the dialogue: "Kev" of kev.harlan@..."""
        return {
            word for text in self._shaped for word in _CAPITALISED.findall(text) if word.lower() in self._local_parts
        }

    def _by_shape(self, text: str, role: Role, asked: Asked = ()) -> str:
        kept: list[str] = []

        def found(kind: str, value: str) -> str:
            if _plain(value) not in self._keep:
                return self._placeholder(kind, value, role)
            kept.append(value)
            return f"\ue000{chr(0xE001 + len(kept) - 1)}" if len(kept) < 0x1000 else value

        shaped = replaced(text, found, asked)
        if self._known_pattern is not None:
            shaped = self._known_pattern.sub(
                lambda match: found(self._known[" ".join(match[0].lower().split())], match[0]), shaped
            )
        if "<our-" in shaped:
            shaped = _YOURS.sub(_yours, shaped)
        return _KEPT.sub(lambda match: "".join(kept[ord(match[1]) - 0xE001 :][:1]), shaped) if kept else shaped

    def _without_names(self, text: str) -> str:
        if self._names is None:
            return text
        pattern, kinds = self._names
        changed = pattern.sub(lambda m: _unless_verb(m, f"<{kinds[' '.join(m[0].lower().split())]}>"), text)
        return _SURNAME.sub(_surname, _AGAIN.sub(r"<\1>", changed)) if changed != text else text

    def _placeholder(self, kind: str, value: str, role: Role) -> str:
        plain = _plain(value)
        if kind == "email":
            parts = re.findall(r"[a-z]{3,}", value.partition("@")[0].lower())
            self._local_parts |= {part for part in parts if part not in ORDINARY_WORDS}
        first = self._first.setdefault(plain, role)
        if kind in _CUED and len(plain) > 3 and any(char.isdecimal() for char in plain):
            self._known.setdefault(" ".join(value.lower().split()), kind)
        return f"<our-{kind}>" if first is Role.SYSTEM and kind not in _SHARED else f"<{kind}>"

    def _value(self, value: Any, role: Role, kind: str | None = None) -> Any:
        """Annotations and metadata: fields that hold personal values by name, and texts like any text."""
        if isinstance(value, Mapping):
            return {
                key: self._value(held, role, field_type(key) or kind)
                for key, held in value.items()
                if key != "personal"
            }
        if isinstance(value, list | tuple):
            return [self._value(each, role, kind) for each in value]
        if kind and value is not None and not isinstance(value, bool | float) and str(value).strip():
            if PLACEHOLDER.search(str(value)) or _plain(str(value)) in self._keep:
                return value
            return f"<{kind}>"
        return self._text(value, role) if isinstance(value, str) else value

    def _text(self, text: str, role: Role) -> str:
        """An annotation's text; the same few labels stand on many turns."""
        if (text, role) not in self._texts:
            self._texts[text, role] = self._without_names(self._by_shape(text, role))
        return self._texts[text, role]

    def _id(self, name: str) -> str:
        shown = {kind for kind in ("email", "phone") if f"<{kind}>" in replaced(name, lambda kind, _: f"<{kind}>")}
        if not shown and self._without_names(name) == name:
            return name
        digest = hashlib.blake2b(name.encode(), digest_size=10).digest()
        return "dialogue-" + "".join(chr(97 + half) for byte in digest for half in (byte >> 4, byte & 15))


_VERBS = words_of("hope will may can mark grant chase pat rob sue wade skip")
_AFTER_VERB = words_of("you i we he she it they the this that these those my your our all any be me there as not")


def _yours(match: re.Match[str]) -> str:
    before, after = match["before"], match["after"]
    return f"{before}<{match['type']}>{after}" if before or after else match[0]


def _surname(match: re.Match[str]) -> str:
    """A name takes the capitalised word after it along, unless that is an ordinary word."""
    return match[0] if match[2].lower() in ORDINARY_WORDS else match[1]


def _unless_verb(match: re.Match[str], placeholder: str) -> str:
    """A name that is also a verb stays where it opens a sentence ("Will you ...")."""
    if match[0].lower() in _VERBS and match[0] != match[0].upper():
        before = match.string[max(0, match.start() - 9) : match.start()].rstrip()
        after = match.string[match.end() : match.end() + 9].split(None, 1)
        if (not before or before[-1] in ".!?") and after and after[0].lower() in _AFTER_VERB:
            return match[0]
    return placeholder


def _plain(value: str) -> str:
    """A value without case, spaces and signs, so that two ways of writing it are one."""
    return "".join(char for char in value.lower() if char.isalnum())


def _any_of(values: Mapping[str, str]) -> re.Pattern[str] | None:
    if not values:
        return None
    ordered = sorted(values, key=lambda value: (-len(value), value))
    choices = "|".join(r"\s+".join(map(re.escape, value.split())) for value in ordered)
    return re.compile(rf"(?<![\w<-])(?:{choices})(?![\w>])", re.IGNORECASE)
