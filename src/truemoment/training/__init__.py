"""Training: recipes, examples, a plain loop, checkpoints that hold tensors and nothing else.

A run is followed in this order: :mod:`~truemoment.training.recipes` (what is asked for),
:mod:`~truemoment.training.vocabulary` and :mod:`~truemoment.training.examples` (annotations and features become
tensors), :mod:`~truemoment.training.network` (words and model together), :mod:`~truemoment.training.lessons` (what an
epoch is made of: whole videos, or windows of films), :mod:`~truemoment.training.loop` (epochs, the measure on the
validation split, early stopping), :mod:`~truemoment.training.checkpoints` (what lies in a run's folder),
:mod:`~truemoment.training.grounder` (the trained method, a Grounder like any other) and
:mod:`~truemoment.training.results` (figures kept).
"""
