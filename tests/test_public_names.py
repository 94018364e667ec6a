import dialoom


def test_that_public_names_exist() -> None:
    assert all(hasattr(dialoom, name) for name in dialoom.__all__)


def test_that_public_names_are_pinned() -> None:
    assert dialoom.__all__ == [
        "Agent",
        "Chat",
        "Dialogue",
        "DialoomError",
        "LearnSettings",
        "Model",
        "ReadOptions",
        "Role",
        "Turn",
        "Utterance",
        "__version__",
        "learn",
        "open_corpus",
        "update",
    ]
