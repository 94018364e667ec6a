"""Timed scripts that print figures and ratios against peers in the same run: `python -m benchmarks [NAME ...]`."""
