"""A causal language model under the evidence attention mask: one pass over the whole turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dialoom.knowledge.unified.masks import PADDING, additive, attention_mask, padded
from dialoom.knowledge.unified.sequences import Run, TokenSequence


def predictions(network: Any, batch: Sequence[TokenSequence], runs: Sequence[Run], *, masked: bool) -> Any:
    """Logits of every token of `runs`, one run after another: (tokens, vocabulary)."""
    logits = network(**_inputs(network, batch, masked=masked), use_cache=False).logits
    rows = [run.row for run in runs for _ in range(run.begin, run.end)]
    places = [place - 1 for run in runs for place in range(run.begin, run.end)]
    return logits[rows, places]


def written(
    network: Any, sequence: TokenSequence, longest: int, choose: Callable[[Any], int | None], *, masked: bool
) -> list[int]:
    """At most `longest` reply tokens after `sequence`; `choose` picks one from logits, None ends the reply."""
    import torch

    said: list[int] = []
    with torch.no_grad():
        found = network(**_inputs(network, [sequence], masked=masked), use_cache=True)
        while len(said) < longest:
            token = choose(found.logits[0, -1])
            if token is None:
                break
            said.append(token)
            position = sequence.positions[-1] + len(said)
            found = network(
                input_ids=torch.tensor([[token]], device=network.device),
                position_ids=torch.tensor([[position]], device=network.device),
                attention_mask=torch.zeros((1, 1, 1, len(sequence) + len(said)), device=network.device),
                past_key_values=found.past_key_values,
                use_cache=True,
            )
    return said


def _inputs(network: Any, batch: Sequence[TokenSequence], *, masked: bool) -> dict[str, Any]:
    pieces = padded([sequence.pieces for sequence in batch], PADDING)
    return {
        "input_ids": padded([sequence.ids for sequence in batch], 0).to(network.device),
        "position_ids": padded([sequence.positions for sequence in batch], 0).to(network.device),
        "attention_mask": additive(attention_mask(pieces, masked=masked)).to(network.device),
    }
