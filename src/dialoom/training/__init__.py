"""Training a model of one's own: settings, and a loop that validates, keeps the best and goes on after a stop."""
