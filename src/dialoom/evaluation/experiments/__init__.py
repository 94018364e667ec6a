"""Experiments: systems on data sets, measured, judged, compared and shown."""
