"""The default tagger: learns canonical tags from the corpus itself, without labels, models or downloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.terms import TermSpace
from dialoom.errors import InvalidFile, NothingToLearn, UsageError
from dialoom.files import Parts, pack_json, unpack_json
from dialoom.tagging.clusters import group
from dialoom.tagging.linear import LinearTags
from dialoom.tagging.names import name_groups
from dialoom.tagging.tools import tool_tags

SPOKEN = Role.USER, Role.SYSTEM
DISTILLED_TEXTS = 40_000  # distinct texts a distilled tagger is fitted on


@dataclass(frozen=True, slots=True)
class TaggerSettings:
    """How a tag vocabulary is learned.

    At most `system_tags` and `user_tags` tags of at least `at_least` utterances; `sample` distinct utterances of a
    role are compared pair by pair; up to `per_utterance` tags an utterance; a text less similar than `floor` to every
    tag (cosine) is tagged "other".
    """

    system_tags: int = 400
    user_tags: int = 80
    at_least: int = 3
    sample: int = 4000
    per_utterance: int = 1
    floor: float = 0.1

    def __post_init__(self) -> None:
        if min(self.system_tags, self.user_tags, self.at_least, self.sample, self.per_utterance) < 1:
            raise UsageError("Numbers of tags, utterances and samples are at least 1.")
        if not 0.0 <= self.floor < 1.0:
            raise UsageError(f"The floor of similarity is {self.floor}, and it lies in [0, 1).")


class EmbeddedTagger:
    """Tags by nearest canonical utterance, per role; tool rounds by name and outcome."""

    def __init__(self, roles: Mapping[Role, LinearTags]) -> None:
        self._roles = dict(roles)

    @classmethod
    def fit(cls, dialogues: Iterable[Dialogue], settings: TaggerSettings | None = None) -> Self:
        """Learn a vocabulary per role: utterances without their values are grouped by likeness and groups are named.

        Tags, actions and annotations of `dialogues` are not looked at, and their order does not matter.
        Raises `NothingToLearn` when nobody says a word.
        """
        chosen = settings or TaggerSettings()
        texts: dict[Role, list[str]] = {role: [] for role in SPOKEN}
        for dialogue in dialogues:
            for utterance in dialogue.utterances:
                if utterance.role in texts:
                    texts[utterance.role].append(utterance.text)
        most = {Role.SYSTEM: chosen.system_tags, Role.USER: chosen.user_tags}
        learned = {role: _learn(texts[role], most[role], chosen) for role in SPOKEN}
        return cls._of(learned)

    @classmethod
    def distil(cls, tagged: Iterable[Dialogue], settings: TaggerSettings | None = None) -> Self:
        """Learn to give new text the tags that another tagger (a model, annotations) gave these dialogues.

        One ridge regression a role over the same terms, from text to tags; tags of tool rounds are not learned.
        Raises `NothingToLearn` when no utterance has a tag.
        """
        chosen = settings or TaggerSettings()
        seen: dict[Role, Counter[tuple[str, tuple[str, ...]]]] = {role: Counter() for role in SPOKEN}
        for dialogue in tagged:
            for utterance in dialogue.utterances:
                if utterance.tags and utterance.role in seen:
                    seen[utterance.role][utterance.text, utterance.tags] += 1
        return cls._of({role: _distil(seen[role], chosen) for role in SPOKEN})

    @classmethod
    def _of(cls, learned: Mapping[Role, LinearTags | None]) -> Self:
        roles = {role: tags for role, tags in learned.items() if tags is not None}
        if not roles:
            raise NothingToLearn("The transcripts hold no words to learn tags from.")
        return cls(roles)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that have a vocabulary of their own."""
        return tuple(self._roles)

    def vocabulary(self, role: Role) -> tuple[str, ...]:
        """The tags of `role`, most frequent first; empty for tools, whose tags are made from what they say."""
        return self._roles[role].names if role in self._roles else ()

    def tags_of(self, utterance: Utterance) -> tuple[str, ...]:
        """The tags of one utterance; at least one."""
        if utterance.role is Role.TOOL:
            return tool_tags(utterance)
        known = self._roles.get(utterance.role)
        return known.tags(utterance.text) if known else ("other",)

    def tag(self, dialogue: Dialogue) -> Dialogue:
        """The dialogue with `tags` on every utterance."""
        return replace(dialogue, utterances=tuple(u.tagged(self.tags_of(u)) for u in dialogue.utterances))

    def tag_all(self, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """`tag` for a stream, in order."""
        return map(self.tag, dialogues)

    def to_parts(self) -> dict[str, bytes]:
        """The tagger as named entries."""
        parts = {"tagger.json": pack_json({"roles": [role.value for role in self._roles]})}
        for role, tags in self._roles.items():
            parts |= tags.to_parts(f"{role.value}_")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """The tagger that `to_parts` saved. Raises `InvalidFile` for entries that do not fit together."""
        saved = unpack_json(parts, "tagger.json")
        try:
            roles = [Role(name) for name in saved["roles"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile("tagger.json", f"does not name the roles of a tagger ({error}).") from error
        return cls({role: LinearTags.from_parts(parts, f"{role.value}_") for role in roles})


def _learn(texts: list[str], most: int, settings: TaggerSettings) -> LinearTags | None:
    space = TermSpace.fit(texts, at_least=min(3, 1 + len(texts) // 200))
    counts = Counter(space.skeleton(text) for text in texts)
    if not any(counts):
        return None
    groups = group(space, counts, most=most, at_least=settings.at_least, sample=settings.sample)
    weights = _rounded(groups.centroids)
    names = name_groups(groups.members)
    return LinearTags(space, weights, names, floor=settings.floor, most=settings.per_utterance)


def _distil(seen: Counter[tuple[str, tuple[str, ...]]], settings: TaggerSettings) -> LinearTags | None:
    from sklearn.linear_model import Ridge

    pairs = sorted(seen)[:: max(1, len(seen) // DISTILLED_TEXTS)]
    space = TermSpace.fit((text for text, _ in pairs), at_least=1 if len(pairs) < 1000 else 2)
    if not len(space):
        return None
    names = sorted({tag for _, tags in pairs for tag in tags})
    column = {tag: number for number, tag in enumerate(names)}
    wanted = np.zeros((len(pairs), len(names)), dtype=np.float32)
    for row, (_, tags) in enumerate(pairs):
        wanted[row, [column[tag] for tag in tags]] = 1.0
    rows = space.matrix(space.skeleton(text) for text, _ in pairs)
    weight = np.asarray([seen[pair] for pair in pairs], dtype=np.float64)
    ridge = Ridge(alpha=0.3, fit_intercept=False, solver="sparse_cg", tol=1e-4)
    weights = ridge.fit(rows, wanted, sample_weight=weight).coef_.reshape(len(names), len(space)).T
    most = max(settings.per_utterance, max(len(tags) for _, tags in pairs))
    return LinearTags(space, _rounded(weights), names, floor=settings.floor, most=most)


def _rounded(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """As saved (half precision), so that a loaded tagger gives the same tags."""
    return weights.astype(np.float16).astype(np.float32)
