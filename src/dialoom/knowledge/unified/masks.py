"""Who may look at whom: the evidence attention mask (UniMS-RAG sec. IV-A2) as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialoom.knowledge.unified.sequences import REPLY, SHARED

PADDING = -2


def padded(rows: Sequence[Sequence[int]], fill: int) -> Any:
    """Rows as one (number, longest) tensor of integers, filled on the right."""
    import torch

    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=torch.long)


def attention_mask(pieces: Any, *, masked: bool = True) -> Any:
    """For a causal model: (batch, query, key) booleans from (batch, length) pieces; every token sees itself.

    With `masked` no piece of evidence sees another.
    """
    import torch

    length = pieces.shape[1]
    causal = torch.ones((length, length), dtype=torch.bool).tril()[None]
    query, key = pieces[:, :, None], pieces[:, None, :]
    allowed = causal & (key != PADDING)
    if masked:
        allowed = allowed & ((key == SHARED) | (key == query) | (query == REPLY))
    return allowed | torch.eye(length, dtype=torch.bool)[None]


def encoder_mask(pieces: Any, levels: Any, *, masked: bool = True) -> Any:
    """For an encoder: (batch, query, key) booleans; nobody sees a level above the own one, every token sees itself.

    So what is predicted (a plan, a score) stays hidden from what it is predicted from. With `masked` no piece of
    evidence sees another.
    """
    import torch

    query, key = pieces[:, :, None], pieces[:, None, :]
    allowed = (key != PADDING) & (levels[:, None, :] <= levels[:, :, None])
    if masked:
        allowed = allowed & ((key == SHARED) | (key == query))
    return allowed | torch.eye(pieces.shape[1], dtype=torch.bool)[None]


def additive(allowed: Any) -> Any:
    """(batch, 1, query, key): 0 where allowed, else the lowest number that bfloat16 holds too."""
    import torch

    return torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.bfloat16).min)[:, None]
