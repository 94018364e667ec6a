"""A language model with the tokens of UniMS-RAG added: what training and use share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile
from dialoom.files import read_text, write_text
from dialoom.knowledge.unified import causal, seq2seq
from dialoom.knowledge.unified.opening import opened
from dialoom.knowledge.unified.sequences import Lengths, Run, Sequences, TokenSequence, runs
from dialoom.knowledge.unified.tokens import special_tokens

SETTINGS = "dialoom-unims.json"


@dataclass
class UnifiedModel:
    """A causal or sequence-to-sequence model, its tokenizer and the sources it knows.

    `masked` False takes the evidence mask away.
    """

    network: Any
    tokenizer: Any
    sources: tuple[str, ...]
    device: str = "cpu"
    masked: bool = True
    lengths: Lengths = Lengths()  # noqa: RUF009 - frozen

    @classmethod
    def start(
        cls,
        base: Path | str,
        sources: Sequence[str],
        *,
        device: str = "cpu",
        masked: bool = True,
        lengths: Lengths | None = None,
        seed: int = 0,
    ) -> UnifiedModel:
        """A local Hugging Face folder or GGUF file (nothing is downloaded) with the special tokens added.

        What their weights are before training is drawn from `seed`.
        """
        network, tokenizer = opened(base)
        import torch

        torch.manual_seed(seed)
        tokenizer.add_special_tokens({"additional_special_tokens": special_tokens(sources)})
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        return cls(network.to(device), tokenizer, tuple(sources), device, masked, lengths or Lengths())

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "cpu") -> UnifiedModel:
        """What `save` wrote."""
        path = Path(folder) / SETTINGS
        settings = json.loads(read_text(path))
        try:
            sources, masked = tuple(settings["sources"]), bool(settings["masked"])
            lengths = Lengths(**settings["lengths"])
        except (KeyError, TypeError) as error:
            raise InvalidFile(path, "not the settings of a unified model.") from error
        network, tokenizer = opened(folder)
        return cls(network.to(device).eval(), tokenizer, sources, device, masked, lengths)

    def save(self, folder: Path | str) -> None:
        """Write weights (safetensors), tokenizer and settings; LoRA weights are merged first."""
        merged = self.network.merge_and_unload() if hasattr(self.network, "merge_and_unload") else self.network
        merged.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        settings = {"sources": self.sources, "masked": self.masked, "lengths": asdict(self.lengths)}
        write_text(Path(folder) / SETTINGS, json.dumps(settings))

    @property
    def sequences(self) -> Sequences:
        """Builds this model's sequences."""
        return Sequences(self.tokenizer, self.lengths)

    def predictions(self, batch: Sequence[TokenSequence]) -> Any:
        """Logits of every token that carries a loss, in the order of `batch`: (tokens, vocabulary)."""
        return self._predictions(batch, runs(batch))

    def following(self, batch: Sequence[TokenSequence], loss: int) -> Any:
        """Logits of the token that would come next, as one that `loss` predicts: (len(batch), vocabulary)."""
        asked = [sequence.extended(0, loss) for sequence in batch]
        last = [Run(row, runs([sequence])[-1].begin, len(sequence), loss) for row, sequence in enumerate(asked)]
        ends = [sum(run.end - run.begin for run in last[: row + 1]) - 1 for row in range(len(last))]
        return self._predictions(asked, last)[ends]

    def written(self, sequence: TokenSequence, choose: Callable[[Any], int | None]) -> list[int]:
        """The tokens of a reply after `sequence`; `choose` picks one from logits, None ends it."""
        said: list[int] = self._family.written(self.network, sequence, self.lengths.reply, choose, masked=self.masked)
        return said

    def _predictions(self, batch: Sequence[TokenSequence], asked: Sequence[Run]) -> Any:
        return self._family.predictions(self.network, batch, asked, masked=self.masked)

    @property
    def _family(self) -> Any:
        return seq2seq if self.network.config.is_encoder_decoder else causal
