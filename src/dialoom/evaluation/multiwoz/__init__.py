"""MultiWOZ in the form of Nekvinda & Dušek 2021: Inform, Success, BLEU and richness of delexicalised responses."""
