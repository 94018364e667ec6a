"""Transcripts in and out: readers that stream dialogues from files, folders, globs and archives."""

from dialoom.corpora.base import Document, Reader, ReadOptions
from dialoom.corpora.corpus import Corpus, Counts, open_corpus
from dialoom.corpora.formats import FORMATS, reader_named
from dialoom.corpora.jsonl import write_jsonl

__all__ = [
    "FORMATS",
    "Corpus",
    "Counts",
    "Document",
    "ReadOptions",
    "Reader",
    "open_corpus",
    "reader_named",
    "write_jsonl",
]
