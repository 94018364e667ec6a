"""Grammars of true replies: exactness, speed and failing closed, each with ratios measured in one run."""
