"""Ready-made domains: functions and rules for a kind of data."""
