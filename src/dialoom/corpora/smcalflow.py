"""SMCalFlow (Semantic Machines et al. 2020): user and agent utterances with the program that links them."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.corpora.annotations import present
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_lines, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_PROGRAM = ("lispress", "fully_typed_lispress", "expansion_lispress", "program_execution_oracle", "skip", "turn_index")


class SmCalFlowReader:
    """Two utterances a turn, of the original texts.

    The user's annotations hold the program (lispress, fully_typed_lispress, program_execution_oracle, skip,
    turn_index); the agent's hold `described_entities`.
    """

    name = "smcalflow"
    description = "SMCalFlow 2.0: *.dataflow_dialogues.jsonl(.gz) with Lispress programs"

    def sniff(self, head: bytes) -> bool:
        """Turns with `lispress` and `user_utterance`."""
        return json_head(head, "lispress", "user_utterance")

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """One dialogue a line."""

        def parse(record: Record) -> Dialogue:
            turns: list[Utterance] = []
            for turn in record.each("turns"):
                user, agent = (
                    Record(turn.file, turn.place, turn.need(key, dict), f"{turn.at}.{key}")
                    for key in ("user_utterance", "agent_utterance")
                )
                program = {key: turn.value.get(key) for key in _PROGRAM}
                turns.append(Utterance(Role.USER, user.text("original_text"), annotations=present(**program)))
                entities = present(described_entities=agent.get("described_entities", list))
                turns.append(Utterance(Role.SYSTEM, agent.text("original_text"), annotations=entities))
            return Dialogue(record.identity("dialogue_id"), tuple(turns))

        yield from parsed(json_lines(document), parse)
