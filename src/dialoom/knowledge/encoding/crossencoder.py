"""A cross-encoder that reads evidence and text together: the paper's NLI model, or a relevance scorer (sec. V-D)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialoom.knowledge.base import Evidence, Query, tenths
from dialoom.knowledge.encoding.pairs import FitSettings, Pair, asked_text, batches, opened

_BATCH = 32


class CrossEncoder:
    """P(the texts belong together) for [CLS] evidence [SEP] text [SEP]: a `ConsistencyScorer` and `RelevanceScorer`.

    What "belong together" means is what it was trained on: `consistency_pairs` or `retrieval_pairs`.
    """

    def __init__(self, network: Any, tokenizer: Any, *, longest: int = 256, device: str = "cpu") -> None:
        self._network = network.to(device)
        self._tokenizer = tokenizer
        self._longest = longest
        self._device = device

    @classmethod
    def load(cls, folder: Path | str, *, longest: int = 256, device: str = "cpu") -> CrossEncoder:
        """From a local folder: a base model to be trained, or what `save` wrote."""
        network, tokenizer = opened(folder, "AutoModelForSequenceClassification", num_labels=1)
        return cls(network, tokenizer, longest=longest, device=device)

    def save(self, folder: Path | str) -> None:
        """Write weights (safetensors) and tokenizer."""
        self._network.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)

    def fit(self, pairs: Sequence[Pair], settings: FitSettings | None = None) -> list[float]:
        """Train to tell each pair's positive from its negative; the loss of each step."""
        import torch

        settings = settings or FitSettings()
        torch.manual_seed(settings.seed)
        optimizer = torch.optim.AdamW(self._network.parameters(), lr=settings.rate, eps=1e-6)
        losses = []
        self._network.train()
        for batch in batches(pairs, settings):
            evidence = [pair.positive for pair in batch] + [pair.negative for pair in batch]
            logits = self._logits(evidence, [pair.anchor for pair in batch] * 2)
            wanted = torch.tensor([1.0] * len(batch) + [0.0] * len(batch), device=self._device)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(float(loss.detach()))
        return losses

    def probabilities(self, evidence: Sequence[str], texts: Sequence[str]) -> list[float]:
        """P(together) of each pair, in [0, 1]."""
        import torch

        self._network.eval()
        found: list[float] = []
        with torch.no_grad():
            for start in range(0, len(texts), _BATCH):
                part = slice(start, start + _BATCH)
                found += self._logits(evidence[part], texts[part]).sigmoid().float().cpu().tolist()
        return found

    async def consistency(self, reply: str, evidence: Sequence[str]) -> list[float]:
        """See `ConsistencyScorer`."""
        return self.probabilities(evidence, [reply] * len(evidence))

    async def relevance(self, query: Query, evidence: Sequence[Evidence]) -> list[float]:
        """See `RelevanceScorer`."""
        asked = asked_text([u.text for u in query.context.utterances])
        texts = [found.text for found in evidence]
        return [tenths(score) for score in self.probabilities(texts, [asked] * len(texts))]

    def _logits(self, evidence: Sequence[str], texts: Sequence[str]) -> Any:
        encoded = self._tokenizer(
            list(evidence), list(texts), padding=True, truncation="longest_first", max_length=self._longest,
            return_tensors="pt",
        ).to(self._device)  # fmt: skip
        return self._network(**encoded).logits[:, 0]
