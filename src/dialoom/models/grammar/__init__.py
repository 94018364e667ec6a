"""Constraints of every kind as checked grammars over characters."""
