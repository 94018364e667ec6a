"""Texts to vectors."""

from dialoom.encoders.base import Encoder, Vectors
from dialoom.encoders.registry import ENCODERS, open_encoder

__all__ = ["ENCODERS", "Encoder", "Vectors", "open_encoder"]
