"""Rules, grammars of true replies, constrained decoding and provenance."""
