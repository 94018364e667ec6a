"""The formats that are read without saying more than a name."""

from __future__ import annotations

from collections.abc import Mapping

from dialoom.corpora.abcd import AbcdReader
from dialoom.corpora.base import Reader
from dialoom.corpora.bea import BeaReader
from dialoom.corpora.chat import ChatReader
from dialoom.corpora.dulemon import DulemonReader
from dialoom.corpora.jsonl import JsonlReader
from dialoom.corpora.kbp import KbpReader
from dialoom.corpora.multidogo import MultiDogoReader
from dialoom.corpora.multiwoz import MultiWozReader
from dialoom.corpora.multiwoz22 import MultiWoz22Reader
from dialoom.corpora.sgd import SgdReader
from dialoom.corpora.smcalflow import SmCalFlowReader
from dialoom.corpora.star import StarReader
from dialoom.corpora.tables import CsvReader, ParquetReader
from dialoom.corpora.twcs import TwcsReader
from dialoom.errors import UnknownName

_READERS: tuple[Reader, ...] = (
    JsonlReader(), StarReader(), SgdReader(), MultiWoz22Reader(), MultiWozReader(), AbcdReader(), KbpReader(),
    DulemonReader(), BeaReader(), SmCalFlowReader(), ChatReader(), TwcsReader(), MultiDogoReader(), ParquetReader(),
    CsvReader(),
)  # fmt: skip
FORMATS: Mapping[str, Reader] = {reader.name: reader for reader in _READERS}
"""Readers by the name that `--format` takes. The order is that of sniffing: the particular before the general."""


def reader_named(name: str) -> Reader:
    """The reader of a format. Raises `UnknownName`, which lists the formats."""
    if name not in FORMATS:
        raise UnknownName("format", name, ("auto", *FORMATS))
    return FORMATS[name]
