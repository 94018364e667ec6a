"""Real SMCalFlow programs on the calendar: reading turns, building worlds, and the bench."""
