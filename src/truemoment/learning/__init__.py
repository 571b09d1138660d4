"""Learning: models, their training, and models that are asked over a network."""
