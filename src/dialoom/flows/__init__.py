"""Authored flows: a conversation as a graph of prompt nodes with memory, schemas, constraints and repair."""

from dialoom.flows.application import Application, load_application
from dialoom.flows.constraints import Proposal
from dialoom.flows.flow import Flow
from dialoom.flows.load import LoadedFlow, flow_schema, load_flow, parse_flow
from dialoom.flows.recognise import Reading
from dialoom.flows.runner import Runner
from dialoom.flows.state import Event, State, Turn
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports

__all__ = [
    "Application",
    "Event",
    "Flow",
    "LoadedFlow",
    "Ports",
    "Proposal",
    "Reading",
    "Runner",
    "State",
    "Turn",
    "begin",
    "flow_schema",
    "load_application",
    "load_flow",
    "parse_flow",
    "step",
]
