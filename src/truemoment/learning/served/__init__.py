"""Served models: a grounder that queries any OpenAI-compatible endpoint and stores every raw answer.

``truemoment predict endpoint`` is its command line. Needs PyAV, Pillow, tenacity: ``pip install 'truemoment[served]'``.
"""

from __future__ import annotations

from truemoment.base.boundary.endpoints import EndpointError, key_from_environment
from truemoment.learning.served.endpoint import Completion, Endpoint
from truemoment.learning.served.grounder import CollectedAnswers, ServedModel, Unanswered
from truemoment.learning.served.prompts import PROMPTS, Prompt, get_prompt
from truemoment.learning.served.raw import RawAnswer, RawAnswers

__all__ = [
    "PROMPTS",
    "CollectedAnswers",
    "Completion",
    "Endpoint",
    "EndpointError",
    "Prompt",
    "RawAnswer",
    "RawAnswers",
    "ServedModel",
    "Unanswered",
    "get_prompt",
    "key_from_environment",
]
