"""The embedded model under real grammars: true replies, and nothing else."""

from __future__ import annotations

import pytest

from dialoom.dataflow import Graph, Library
from dialoom.generation import Decoding, Recogniser, Rules, reply_prompt, speak_through, transduce
from dialoom.models.base import Message

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize("name", ["Tara Smith", "x<|im_end|>y", 'a "b" \\ {c}\nd', "שלום 🎉"])
async def test_that_the_embedded_model_stays_within_the_grammar(name: str) -> None:
    pytest.importorskip("xllamacpp")
    from dialoom.models.embedded import EmbeddedModel

    library, rules = Library(), Rules()

    @library.function
    def meet(who: str) -> str:
        return who

    rules.rule("S", "[You meet|There is a meeting with] {<who>}[ today| tomorrow|].")(lambda node, graph: {"who": node})
    graph = Graph(library.call("meet", name), library)
    grammar = transduce(graph, rules)
    for mode in ("greedy", "ranked"):
        prompt = [Message("user", reply_prompt(graph))]
        reply = await speak_through(grammar, EmbeddedModel(), prompt, Decoding(mode, max_tokens=64))
        assert Recogniser(grammar).accepts(reply.text)
        assert name in reply.text
