"""Encoders trained on labelled turns: a DPR-style bi-encoder and a cross-encoder (extra `train`)."""
