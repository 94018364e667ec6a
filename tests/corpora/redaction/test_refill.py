import pytest

from dialoom.corpora.redaction import PLACEHOLDER, TYPES, personal_values, redact, refill
from dialoom.dialogue import Dialogue, Role, Utterance

U, S, T = Role.USER, Role.SYSTEM, Role.TOOL
NICK = {"name": ("Nick",), "order": ("99-1234",), "email": ("nick@mail.example",)}


@pytest.mark.parametrize(
    ("text", "neutral", "own"),
    [
        ("Hi <name>, thanks!", "Hi, thanks!", "Hi Nick, thanks!"),
        ("Hi <name>", "Hi", "Hi Nick"),
        ("Dear <name>,\nsorry", "Hello,\nsorry", "Dear Nick,\nsorry"),
        ("Thanks, <name>.", "Thanks.", "Thanks, Nick."),
        ("<name>, how can I help?", "How can I help?", "Nick, how can I help?"),
        ("We look into it for you, <name>. Bye", "We look into it for you. Bye", "We look into it for you, Nick. Bye"),
        ("What is your level <name>?", "What is your level?", "What is your level Nick?"),
        ("Is this <name>?", "Is this the right person?", "Is this Nick?"),
        ("Your name is <name>.", "Your name is on file.", "Your name is Nick."),
        ("A party for <name> it is.", "A party for you it is.", "A party for you it is."),
        ("<name>'s room is ready.", "Their room is ready.", "Their room is ready."),
        ("I asked <name> about it.", "I asked that person about it.", "I asked that person about it."),
        ("Dr. <name> will see you.", "The doctor will see you.", "The doctor will see you."),
        ("Your order <order> has shipped.", "Your order has shipped.", "Your order 99-1234 has shipped."),
        ("Order #<order> is late", "Order is late", "Order #99-1234 is late"),
        ("Your reference is <our-order>.", "Your reference is on file.", "Your reference is on file."),
        ("We wrote to <email>.", "We wrote to the email address on file.", "We wrote to nick@mail.example."),
        ("Call <our-phone> now", "Call the number on our website now", "Call the number on our website now"),
        ("Your card (<card>) expired.", "Your card expired.", "Your card expired."),
        ("Read this: <url>", "Read this", "Read this"),
        ("Please visit <url>.", "Please visit our website.", "Please visit our website."),
        ("Done. <url>", "Done.", "Done."),
        ("Happy to help. ^<agent> <url>", "Happy to help.", "Happy to help."),
        ("Happy to help - <agent>", "Happy to help", "Happy to help"),
        ("My name is <agent>, hello", "I am your assistant, hello", "I am your assistant, hello"),
        ("This is <agent> from sales", "This is your assistant from sales", "This is your assistant from sales"),
        ("no placeholders <here>, Simona", "no placeholders <here>, Simona", "no placeholders <here>, Simona"),
    ],
)  # fmt: skip
def test_that_placeholders_become_own_values_or_neutral_wording(text: str, neutral: str, own: str) -> None:
    assert refill(text) == neutral
    assert refill(text, NICK) == own


def test_that_the_assistants_name_can_be_given() -> None:
    assert refill("My name is <agent>.", {"agent": ("Loom",)}) == "My name is Loom."


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("frame", ["It is <{}>", "<{}>", "your number <our-{}>, ok", "see <{}> <{}>"])
def test_that_no_placeholder_is_ever_said(kind: str, frame: str) -> None:
    assert PLACEHOLDER.search(refill(frame.replace("{}", kind), NICK)) is None


def test_that_a_value_cannot_smuggle_a_placeholder_in() -> None:
    assert refill("Hi <name>!", {"name": ("<secret>",)}) == "Hi!"


def test_that_own_values_are_the_users_and_the_tools() -> None:
    dialogue = Dialogue(
        "live",
        (
            Utterance(S, "Hi Simona, our number is 555-987-6543."),
            Utterance(U, "No, I'm Nick Tarn, at 555-123-4567, my friend Petra waits"),
            Utterance(U, "sorry, ring 555-111-2222"),
            Utterance(U, "Petra told me so, and a man called Oscar"),
            Utterance(T, "lookup returned found", annotations={"tool": "lookup", "results": [{"order_id": "A-77"}]}),
        ),
    )
    values = personal_values(dialogue)
    assert values["name"] == ("Nick Tarn",)
    assert values["phone"] == ("555-111-2222", "555-123-4567")
    assert values["order"] == ("A-77",)


def test_that_secrets_are_not_repeated() -> None:
    values = personal_values(Dialogue("live", (Utterance(U, "my pin is 4431, card 4111111111111111"),)))
    assert refill("The pin <secret> and card <card> are set.", values) == "The pin and card are set."


def test_that_nick_is_never_called_simona() -> None:
    """App. C.5 of DFA-RAG: a reply taken from Simona's transcript, said to Nick."""
    transcript = Dialogue(
        "t",
        (
            Utterance(U, "I was mailed about a trip I never took. Was my account hacked?"),
            Utterance(S, "We appreciate you writing to us, Simona. Please send us your email address. ^MM"),
            Utterance(U, "simona.vale@mail.example, booking number QX-5512"),
            Utterance(S, "We'll look into booking QX-5512 for you, Simona. Mail goes to simona.vale@mail.example."),
        ),
    )
    live = Dialogue("live", (Utterance(U, "Hi, I'm Nick. Someone booked a trip in my name."),))
    values = personal_values(live)
    replies = [refill(u.text, values) for u in redact(transcript).utterances if u.role is S]
    assert replies == [
        "We appreciate you writing to us, Nick. Please send us your email address.",
        "We'll look into booking for you, Nick. Mail goes to the email address on file.",
    ]
    assert not any(value in " ".join(replies).lower() for value in ("simona", "vale", "5512"))
