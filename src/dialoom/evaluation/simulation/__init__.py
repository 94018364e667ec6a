"""Simulated users talk to an agent or a flow until their goal is met, and what such conversations measure."""

from dialoom.evaluation.simulation.goals import Answer, Goal, read_goals, sampled_goals
from dialoom.evaluation.simulation.measures import Measures, measured
from dialoom.evaluation.simulation.metering import Bill, Called, Metered
from dialoom.evaluation.simulation.partners import AgentPartner, FlowPartner, Heard, Partner
from dialoom.evaluation.simulation.talks import Talk, simulate, talk_json
from dialoom.evaluation.simulation.users import Line, ModelUser, SampledUser, ScriptedUser, User

__all__ = [
    "AgentPartner",
    "Answer",
    "Bill",
    "Called",
    "FlowPartner",
    "Goal",
    "Heard",
    "Line",
    "Measures",
    "Metered",
    "ModelUser",
    "Partner",
    "SampledUser",
    "ScriptedUser",
    "Talk",
    "User",
    "measured",
    "read_goals",
    "sampled_goals",
    "simulate",
    "talk_json",
]
