"""The unified model of UniMS-RAG: one causal language model that plans, weighs evidence and replies (extra `train`)."""
