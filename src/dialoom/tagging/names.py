"""Readable names of groups of utterances: the phrase of up to three words that tells a group from the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

LONGEST = 3

_FUNCTION_WORDS = """
    a about again all also am an and any are as at be because been being but by can could did do does doing don't
    for from get got had has have having he her here him his how i i'd i'll i'm i've if in into is it it's its
    just let like may me might more most much my no not now of oh ok okay on one or our out own please say shall
    she should so some such than that that's the their them then there these they this those to too up us very was
    we we'll we're well were what what's when where which while who why will with would yes you you're your
"""
FUNCTION_WORDS = frozenset((*_FUNCTION_WORDS.split(), "<number>"))
"""Words that no name starts or ends with while a telling one is at hand."""


def name_groups(groups: Sequence[Mapping[tuple[str, ...], int]]) -> list[str]:
    """One unique name a group (skeletons with counts), in order; the phrase with the most telling words wins.

    A phrase scores p log(p / q): p its share of the group, q its share of all groups. A name already taken goes to
    the next best phrase; a group with no phrase left takes its best one with a number.
    """
    totals: Counter[str] = Counter()
    profiles = []
    for members in groups:
        profile: Counter[str] = Counter()
        for skeleton, count in members.items():
            for phrase in _phrases(skeleton):
                profile[phrase] += count
        profiles.append(profile)
        totals.update(profile)
    size = sum(count for members in groups for count in members.values())
    taken: dict[str, int] = {}
    names = []
    for members, profile in zip(groups, profiles, strict=True):
        ranked = _ranked(profile, sum(members.values()), totals, size) or ["utterance"]
        name = next((phrase for phrase in ranked if phrase not in taken), "")
        if not name:
            name = f"{ranked[0]} {taken[ranked[0]] + 1}"
            taken[ranked[0]] += 1
        taken[name] = 1
        names.append(name)
    return names


def _ranked(profile: Counter[str], inside: int, totals: Counter[str], size: int) -> list[str]:
    def gain(phrase: str) -> float:
        share = profile[phrase] / inside
        parts = phrase.split()
        telling = sum(part not in FUNCTION_WORDS for part in parts)
        edges = (parts[0] in FUNCTION_WORDS) + (parts[-1] in FUNCTION_WORDS)
        worth = (telling + 0.25 * (len(parts) - telling)) ** 0.5 * 0.6**edges
        return share * math.log((share + 1e-9) / (totals[phrase] / size) + 1.0) * (worth if telling else 0.1)

    frequent = [phrase for phrase, _ in sorted(profile.items(), key=lambda item: (-item[1], item[0]))[:60]]
    return sorted(frequent, key=lambda phrase: (-gain(phrase), phrase))


def _phrases(skeleton: Sequence[str]) -> Iterable[str]:
    """Distinct runs of one to three words, without question marks and repeated words.

    Placeholders count: a group of utterances that give an order number is best called `<order>`.
    """
    plain = ["" if word == "?" else word for word in skeleton]
    found = set()
    for start in range(len(plain)):
        for end in range(start + 1, min(start + LONGEST, len(plain)) + 1):
            run = plain[start:end]
            if not run[-1]:
                break
            if len(set(run)) == len(run):
                found.add(" ".join(run))
    return found
