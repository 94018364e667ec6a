"""Typed functions, immutable computation graphs, Lispress and execution."""

from dialoom.dataflow.computation import Call, Computation, Constant, label, walk
from dialoom.dataflow.graph import Failure, Graph
from dialoom.dataflow.library import Function, Library, Parameter
from dialoom.dataflow.notation import UNCHECKED, from_json, from_lispress, to_json, to_lispress
from dialoom.dataflow.types import Type

__all__ = [
    "UNCHECKED",
    "Call",
    "Computation",
    "Constant",
    "Failure",
    "Function",
    "Graph",
    "Library",
    "Parameter",
    "Type",
    "from_json",
    "from_lispress",
    "label",
    "to_json",
    "to_lispress",
    "walk",
]
