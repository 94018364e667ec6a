"""Other people's data out of transcripts, and the present conversation's own back in.

`redact` replaces personal values by typed placeholders; `refill` turns a reply that holds placeholders into one for
the conversation at hand, with its own values or none, never with another person's (DFA-RAG, App. C.5: calling Nick
"Simona"). `shared_values` are the business's own, to be kept. Recognisers are plain patterns and word lists for
English; `TYPES` lists them, docs/transcripts.md says what they miss.
"""

from dialoom.corpora.redaction.redact import PLACEHOLDER, redact
from dialoom.corpora.redaction.refill import personal_values, refill
from dialoom.corpora.redaction.shared import shared_values
from dialoom.corpora.redaction.values import TYPES

__all__ = ["PLACEHOLDER", "TYPES", "personal_values", "redact", "refill", "shared_values"]
