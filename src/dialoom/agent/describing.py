"""What a node or a state says about a computation: true by the domain's rules, every part with its origin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from dialoom.agent.trace import Overheard
from dialoom.dataflow import Constant, Graph, from_lispress, label
from dialoom.errors import UsageError
from dialoom.flows.facts import Told
from dialoom.generation import Decoding, Domain, Grammar, Reply, count, reply_prompt, speak, speak_through
from dialoom.generation.decoding import TokenModel
from dialoom.generation.prompts import program_of
from dialoom.generation.reply import drawn, recognised, valued
from dialoom.models.base import LanguageModel, Message

PLAIN = (str, int, float, bool)


class DomainDescriber:
    """Describes computations of a domain (the port `Describer` of flows).

    Without a model, one of the true replies is drawn by the rules' weights, always the same one for `decoding.seed`.
    A model in process is decoded under the grammar; one behind the language model port gets it, or ranks true replies.
    """

    def __init__(
        self, domain: Domain, model: TokenModel | LanguageModel | None = None, decoding: Decoding | None = None
    ) -> None:
        self.domain = domain
        self.model = Overheard(model) if isinstance(model, LanguageModel) else model
        self.decoding = decoding or Decoding()

    def check(self, computation: str, names: Sequence[str]) -> None:
        """See `Describer`. Raises `InvalidRule` or `UnknownName` for a program that the domain does not have."""
        from_lispress(computation, self.domain.library, {name: Constant(None) for name in names})

    async def describe(self, computation: Any, given: Mapping[str, Any], words: str) -> Told:
        """See `Describer`. Raises `EmptyLanguage` where no rule describes the computation, `UsageError` where it is
        none.
        """
        for name, value in given.items():
            if not isinstance(value, PLAIN):
                raise UsageError(
                    f"'{name}' is {type(value).__name__}, and a computation takes texts, numbers, true and false.",
                    hint="Fill the slot before this node, or use a function registered with @app.computation.",
                )
        graph = self.domain.graph(computation, given)
        grammar = await asyncio.to_thread(self.domain.grammar, graph)
        reply = await self._reply(graph, grammar, words)
        return Told(reply.text, data=provenance(reply, graph, grammar))

    async def _reply(self, graph: Graph, grammar: Grammar, words: str) -> Reply:
        if self.model is None:
            return recognised(grammar, drawn(grammar, 2, seed=self.decoding.seed)[-1:], "random")
        prompt = reply_prompt(graph, words=words)
        if isinstance(self.model, LanguageModel):
            return await speak_through(grammar, self.model, (Message("user", prompt),), self.decoding)
        return await asyncio.to_thread(speak, grammar, self.model, prompt, self.decoding)


def provenance(reply: Reply, graph: Graph, grammar: Grammar) -> dict[str, Any]:
    """Where every part of a reply comes from, in JSON values: characters, rule, node, value."""
    return {
        "computation": program_of(graph.root),
        "mode": reply.mode,
        "derivations": str(count(grammar)),
        "spans": [
            {
                "begin": span.begin,
                "end": span.end,
                "words": reply.text[span.begin : span.end],
                "rule": str(span.rule),
                "node": label(span.pair.node),
                "value": valued(graph, span.pair.node),
            }
            for span in reply.spans
        ],
        "replaced": [{"reason": event.reason, "rejected": event.rejected} for event in reply.events],
    }
