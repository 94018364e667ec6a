"""Rules, grammars of true replies, constrained decoding and provenance."""

from dialoom.generation.derivations import count, sampler, shortest, spans_of, text_of
from dialoom.generation.domain import Domain, load_domain
from dialoom.generation.emission import to_gbnf, to_lark
from dialoom.generation.grammar import Grammar
from dialoom.generation.prompts import reply_prompt
from dialoom.generation.recogniser import Recogniser
from dialoom.generation.reply import Replaced, Reply, explain
from dialoom.generation.rule_check import Finding, check_rules, fired, silent
from dialoom.generation.rule_files import load_rules
from dialoom.generation.rules import Rule, Rules
from dialoom.generation.speaking import Decoding, baseline, speak, speak_through
from dialoom.generation.transduction import transduce

__all__ = [
    "Decoding",
    "Domain",
    "Finding",
    "Grammar",
    "Recogniser",
    "Replaced",
    "Reply",
    "Rule",
    "Rules",
    "baseline",
    "check_rules",
    "count",
    "explain",
    "fired",
    "load_domain",
    "load_rules",
    "reply_prompt",
    "sampler",
    "shortest",
    "silent",
    "spans_of",
    "speak",
    "speak_through",
    "text_of",
    "to_gbnf",
    "to_lark",
    "transduce",
]
