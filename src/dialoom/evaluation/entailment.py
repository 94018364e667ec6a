"""Does a reply follow from its evidence? The consistency score of UniMS-RAG (sec. V) with any local classifier."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path

from dialoom.errors import UsageError
from dialoom.evaluation.classifiers import Classifier


class Entailment:
    """A classifier of text pairs: evidence first, reply second.

    Its output for the label `entailment` counts, of two outputs without such a label the second, a single one as it is.
    """

    def __init__(self, folder: Path) -> None:
        """Raises `InvalidFile`, `MissingExtra`, and `UsageError` where no output can be told for entailment."""
        self._classifier = Classifier(folder, "Consistency by a classifier")
        names = {int(place): str(name).lower() for place, name in self._classifier.config.id2label.items()}
        entails = [place for place, name in names.items() if name == "entailment"]
        if not entails and len(names) > 2:
            raise UsageError(
                f"{folder}: none of its labels is 'entailment'.", hint=f"They are {', '.join(names.values())}."
            )
        self._label = entails[0] if entails else len(names) - 1
        self.probability = lru_cache(4096)(self._probability)

    def _probability(self, evidence: str, reply: str) -> float:
        marked = self._classifier.tokenizer(evidence, reply, truncation=True, max_length=512)
        logits = self._classifier.logits(**{name: list(row) for name, row in marked.items()})
        if len(logits) == 1:
            return 1.0 / (1.0 + math.exp(-logits[0]))
        most = max(logits)
        weights = [math.exp(logit - most) for logit in logits]
        return weights[self._label] / math.fsum(weights)


@cache
def opened(folder: str) -> Entailment:
    """The scorer in a folder, loaded once."""
    return Entailment(Path(folder).expanduser().absolute())
