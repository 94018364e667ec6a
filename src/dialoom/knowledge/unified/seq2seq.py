"""An encoder-decoder under the evidence attention mask.

The encoder reads conversation, plan and evidence once; each plan, score and reply is decoded apart from the others,
looking only at what it may be predicted from: a plan at the conversation, a score at conversation, plan and its own
piece of evidence, a reply at everything. The decoder starts with the token before the predicted one, so that the
same sequences serve causal models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dialoom.knowledge.unified.masks import PADDING, additive, encoder_mask, padded
from dialoom.knowledge.unified.sequences import PLAN_LOSS, REPLY, SCORE_LOSS, SHARED, Run, TokenSequence

_CONTEXT, _PLAN, _EVIDENCE, _SCORE = range(4)


def predictions(network: Any, batch: Sequence[TokenSequence], runs: Sequence[Run], *, masked: bool) -> Any:
    """Logits of every token of `runs`, one run after another: (tokens, vocabulary)."""
    import torch

    states, pieces, levels = _encoded(network, batch, masked=masked)
    found: dict[Run, Any] = {}
    for kind in dict.fromkeys(run.loss for run in runs):
        mine = [run for run in runs if run.loss == kind]
        seen = torch.stack([_visible(batch[run.row], run, pieces[run.row], levels[run.row]) for run in mine])
        starts = [[_start(network), *batch[run.row].ids[run.begin - 1 : run.end - 1]] for run in mine]
        logits = _decoded(network, states[[run.row for run in mine]], seen, padded(starts, 0)).logits
        for run, row in zip(mine, logits, strict=True):
            found[run] = row[1 : 1 + run.end - run.begin]
    return torch.cat([found[run] for run in runs])


def written(
    network: Any, sequence: TokenSequence, longest: int, choose: Callable[[Any], int | None], *, masked: bool
) -> list[int]:
    """At most `longest` reply tokens after `sequence`; `choose` picks one from logits, None ends the reply."""
    import torch

    said: list[int] = []
    with torch.no_grad():
        states, pieces, _ = _encoded(network, [sequence], masked=masked)
        seen = pieces != PADDING
        found = _decoded(network, states, seen, torch.tensor([[_start(network), sequence.ids[-1]]]), use_cache=True)
        while len(said) < longest:
            token = choose(found.logits[0, -1])
            if token is None:
                break
            said.append(token)
            past = found.past_key_values
            found = _decoded(network, states, seen, torch.tensor([[token]]), past_key_values=past, use_cache=True)
    return said


def _encoded(network: Any, batch: Sequence[TokenSequence], *, masked: bool) -> tuple[Any, Any, Any]:
    """Encoder states (batch, longest, width) with pieces and levels (batch, longest)."""
    read = [_read(sequence) for sequence in batch]
    pieces = padded([[s.pieces[i] for i in places] for s, places in zip(batch, read, strict=True)], PADDING)
    levels = padded([[_level(s, i) for i in places] for s, places in zip(batch, read, strict=True)], _SCORE)
    ids = padded([[s.ids[i] for i in places] for s, places in zip(batch, read, strict=True)], 0)
    bias = additive(encoder_mask(pieces, levels, masked=masked))
    encoder = network.get_encoder()
    states = encoder(input_ids=ids.to(network.device), attention_mask=bias.to(network.device)).last_hidden_state
    return states, pieces, levels


def _decoded(network: Any, states: Any, seen: Any, ids: Any, **more: Any) -> Any:
    from transformers.modeling_outputs import BaseModelOutput

    return network(
        encoder_outputs=BaseModelOutput(last_hidden_state=states),
        attention_mask=seen.long().to(network.device),
        decoder_input_ids=ids.to(network.device),
        **more,
    )


def _read(sequence: TokenSequence) -> list[int]:
    return [i for i, piece in enumerate(sequence.pieces) if piece != REPLY]


def _level(sequence: TokenSequence, place: int) -> int:
    if sequence.pieces[place] == SHARED:
        return _PLAN if sequence.losses[place] == PLAN_LOSS else _CONTEXT
    return _SCORE if sequence.losses[place] == SCORE_LOSS else _EVIDENCE


def _visible(sequence: TokenSequence, run: Run, pieces: Any, levels: Any) -> Any:
    """What the decoder of a run may look at, as (longest,) booleans."""
    if run.loss == PLAN_LOSS:
        return (pieces == SHARED) & (levels == _CONTEXT)
    if run.loss == SCORE_LOSS:
        own = (pieces == sequence.pieces[run.begin]) & (levels == _EVIDENCE)
        return (pieces == SHARED) | own
    return pieces != PADDING


def _start(network: Any) -> int:
    config = network.config
    for token in (config.decoder_start_token_id, config.pad_token_id, config.eos_token_id):
        if token is not None:
            return int(token)
    return 0
