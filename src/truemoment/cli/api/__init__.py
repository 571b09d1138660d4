"""The functions of ``import truemoment as tm``: each takes records or files, and returns a result that reports itself.

A module a verb. The names are loaded by ``truemoment`` itself when they are first used.
"""
