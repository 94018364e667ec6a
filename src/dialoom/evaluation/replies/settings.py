"""What an experiment with tuned models is told: the corpus, and the models that differ in data and prompt."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dialoom.training.settings import EMBEDDED, LoraSettings, RunSettings
from dialoom.training.settings import read_settings as read_run_settings

WHOLE = "model"


class Variant(BaseModel):
    """One model to tune: on a `share` of the training pairs, its prompts with the `result` and the user's `words`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: float = Field(1.0, gt=0, le=1)
    result: bool = True
    words: bool = False

    @property
    def folder(self) -> str:
        """Its name under `out`."""
        return f"share-{100 * self.share:g}{'' if self.result else '-no-result'}{'-words' if self.words else ''}"

    @property
    def title(self) -> str:
        """Its group of table 2."""
        data = "full training data" if self.share == 1 else f"{100 * self.share:g}% training data"
        context = ", without execution results" * (not self.result) + ", with user utterance" * self.words
        return f"LM fine-tuned on {data}{context}"


class ReplySettings(RunSettings):
    """`corpus` are SMCalFlow files to learn from and `test` ones to measure on.

    Without `test`, a tenth of the dialogues is kept for it; another tenth validates, at most `validate_pairs` replies.
    `model` is a local folder, a .gguf file, or "embedded". `max_tokens` bounds an unconstrained reply.
    """

    model: str = EMBEDDED
    corpus: list[str] = Field(min_length=1)
    test: tuple[str, ...] = ()
    variants: list[Variant] = Field([Variant(share=0.03), Variant()], min_length=1)
    lora: LoraSettings = LoraSettings()
    rate: float = Field(2e-4, gt=0)
    validate_pairs: int = Field(200, ge=1)
    max_tokens: int = Field(64, ge=1)

    @model_validator(mode="after")
    def _all_differ(self) -> ReplySettings:
        if len({variant.folder for variant in self.variants}) < len(self.variants):
            raise ValueError("two variants are the same")
        return self

    def variant_out(self, variant: Variant) -> Path:
        """Where a variant's adapters (`best`, `last`) and its whole model (`WHOLE`) are kept."""
        return Path(self.out) / variant.folder


def read_settings(path: Path | str) -> ReplySettings:
    """The settings in a YAML (or JSON) file; its relative paths are relative to the file.

    Raises `InvalidFile` naming the field.
    """
    return read_run_settings(path, ReplySettings, ("model", "corpus", "test", "out"))
