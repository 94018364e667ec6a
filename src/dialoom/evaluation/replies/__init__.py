"""Tables 1 and 2 of dataflow transduction: models tuned on the corpus's replies, with and without the grammar."""
