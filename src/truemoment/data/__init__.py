"""Data: datasets of the field, formats of predictions and annotations, answers in words, and the words of sentences."""
