from dialoom.dialogue import Dialogue, Role, Utterance


def test_that_joining_unites_the_lists_of_annotations() -> None:
    order, colour = {"act": "inform", "slot": "order"}, {"act": "inform", "slot": "colour"}
    first = {"acts": [order], "intents": ["return"], "slots": {"size": ["42"], "colour": ["red"]}, "language": "en"}
    second = {"acts": [order, colour], "intents": ["return", "exchange"], "slots": {"size": ["44"]}, "language": "de"}
    dialogue = Dialogue(
        "d",
        (
            Utterance(Role.USER, "one", ("a",), "x", first),
            Utterance(Role.USER, "two", ("b", "a"), None, second),
            Utterance(Role.TOOL, "call", annotations={"tool": "look"}),
            Utterance(Role.TOOL, "result", annotations={"tool": "look"}),
        ),
    )
    joined = dialogue.joined().utterances
    assert [(u.text, u.tags, u.action) for u in joined[:1]] == [("one two", ("a", "b"), "x")]
    assert joined[0].annotations == {
        "acts": [order, colour],
        "intents": ["return", "exchange"],
        "slots": {"size": ["42", "44"], "colour": ["red"]},
        "language": "de",
    }
    assert [u.text for u in joined[1:]] == ["call", "result"]
    assert first["intents"] == ["return"]
