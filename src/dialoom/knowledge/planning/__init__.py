"""Planners: which sources a turn needs, from fixed rules to models learned from labelled turns."""
