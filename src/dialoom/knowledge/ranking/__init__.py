"""The learned ranker: which passage of a pool a turn rests on, trained on labelled turns."""
