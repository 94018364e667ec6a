"""A DPR-style bi-encoder: cosine of conversation and evidence, trained with in-batch negatives (UniMS-RAG eq. 5, 6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dialoom.encoders.base import Vectors
from dialoom.knowledge.base import Evidence, Query, tenths
from dialoom.knowledge.encoding.pairs import FitSettings, Pair, asked_text, batches, opened

_BATCH = 64


class BiEncoder:
    """Texts to unit vectors by a Hugging Face encoder, mean over tokens: an `Encoder` and a `RelevanceScorer`.

    One network encodes conversations and evidence, so that an index needs no second one.
    """

    def __init__(self, network: Any, tokenizer: Any, *, longest: int = 128, device: str = "cpu") -> None:
        self._network = network.to(device)
        self._tokenizer = tokenizer
        self._longest = longest
        self._device = device

    @classmethod
    def load(cls, folder: Path | str, *, longest: int = 128, device: str = "cpu") -> BiEncoder:
        """From a local folder: a base model to be trained, or what `save` wrote."""
        network, tokenizer = opened(folder, "AutoModel")
        return cls(network, tokenizer, longest=longest, device=device)

    def save(self, folder: Path | str) -> None:
        """Write weights (safetensors) and tokenizer."""
        self._network.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)

    def fit(self, pairs: Sequence[Pair], settings: FitSettings | None = None) -> list[float]:
        """Train on `pairs`; the loss of each step.

        Negatives of a pair are its own and every other text of the batch, but for texts equal to its positive.
        """
        import torch

        settings = settings or FitSettings()
        torch.manual_seed(settings.seed)
        optimizer = torch.optim.AdamW(self._network.parameters(), lr=settings.rate, eps=1e-6)
        losses = []
        self._network.train()
        for batch in batches(pairs, settings):
            texts = list(dict.fromkeys([pair.positive for pair in batch] + [pair.negative for pair in batch]))
            wanted = torch.tensor([texts.index(pair.positive) for pair in batch], device=self._device)
            similarity = self._embed([pair.anchor for pair in batch]) @ self._embed(texts).T
            loss = torch.nn.functional.cross_entropy(similarity * settings.scale, wanted)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(float(loss.detach()))
        return losses

    @property
    def dimension(self) -> int:
        """See `Encoder`."""
        return int(self._network.config.hidden_size)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        import torch

        self._network.eval()
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        held = [i for i, text in enumerate(texts) if text.strip()]
        with torch.no_grad():
            for start in range(0, len(held), _BATCH):
                places = held[start : start + _BATCH]
                rows[places] = self._embed([texts[i] for i in places]).float().cpu().numpy()
        return rows

    async def relevance(self, query: Query, evidence: Sequence[Evidence]) -> list[float]:
        """See `RelevanceScorer`; negative cosines are 0."""
        if not evidence:
            return []
        asked = asked_text([u.text for u in query.context.utterances])
        vectors = self.encode([asked, *(found.text for found in evidence)])
        return [tenths(float(score)) for score in vectors[1:] @ vectors[0]]

    def _embed(self, texts: Sequence[str]) -> Any:
        import torch

        encoded = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self._device)
        states = self._network(**encoded).last_hidden_state
        mask = encoded["attention_mask"][:, :, None].to(states.dtype)
        mean = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return torch.nn.functional.normalize(mean, dim=-1)
