"""Answer from several knowledge sources: plan, retrieve, weigh, answer, refine (UniMS-RAG)."""

from dialoom.knowledge.answering import Answer, Answerer, AnswerSettings
from dialoom.knowledge.base import (
    ConsistencyScorer,
    Evidence,
    Passage,
    Plan,
    Planner,
    Query,
    Reader,
    RelevanceScorer,
    Source,
)
from dialoom.knowledge.consistency import LexicalConsistency, PromptedConsistency
from dialoom.knowledge.gather import Gathered, GatherSettings, Knowledge, SourceEvent
from dialoom.knowledge.indexes import PassageIndex
from dialoom.knowledge.labelled import LabelledTurn, read_labelled, write_labelled
from dialoom.knowledge.memory import ENGLISH_RULES, Fact, FactRule, Memory, Remark, read_turn
from dialoom.knowledge.planning.evidence import EvidencePlanner, EvidenceSettings
from dialoom.knowledge.planning.fixed import AlwaysPlanner, NeverPlanner, RulePlanner
from dialoom.knowledge.planning.prompted import PromptedPlanner
from dialoom.knowledge.planning.text import TextPlanner
from dialoom.knowledge.ranking.ranker import LearnedRanker, RankerSettings
from dialoom.knowledge.reading import ExtractiveReader, PromptedReader, RememberingReader
from dialoom.knowledge.refinement import RefineSettings
from dialoom.knowledge.relevance import EncoderRelevance, LexicalRelevance, PromptedRelevance
from dialoom.knowledge.sources import (
    CallSource,
    HttpCall,
    IndexedSource,
    MemorySource,
    dialogue_passages,
    folder_passages,
    record_passages,
    table_passages,
)

__all__ = [
    "ENGLISH_RULES",
    "AlwaysPlanner",
    "Answer",
    "AnswerSettings",
    "Answerer",
    "CallSource",
    "ConsistencyScorer",
    "EncoderRelevance",
    "Evidence",
    "EvidencePlanner",
    "EvidenceSettings",
    "ExtractiveReader",
    "Fact",
    "FactRule",
    "GatherSettings",
    "Gathered",
    "HttpCall",
    "IndexedSource",
    "Knowledge",
    "LabelledTurn",
    "LearnedRanker",
    "LexicalConsistency",
    "LexicalRelevance",
    "Memory",
    "MemorySource",
    "NeverPlanner",
    "Passage",
    "PassageIndex",
    "Plan",
    "Planner",
    "PromptedConsistency",
    "PromptedPlanner",
    "PromptedReader",
    "PromptedRelevance",
    "Query",
    "RankerSettings",
    "Reader",
    "RefineSettings",
    "RelevanceScorer",
    "Remark",
    "RememberingReader",
    "RulePlanner",
    "Source",
    "SourceEvent",
    "TextPlanner",
    "dialogue_passages",
    "folder_passages",
    "read_labelled",
    "read_turn",
    "record_passages",
    "table_passages",
    "write_labelled",
]
