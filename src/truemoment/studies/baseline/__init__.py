"""The predictions of a blind baseline or an oracle, and what they score."""
