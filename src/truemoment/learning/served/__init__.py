"""Served models: a grounder that queries any OpenAI-compatible endpoint and stores every raw answer.

``truemoment predict endpoint`` is its command line. Needs PyAV, Pillow, tenacity: ``pip install 'truemoment[served]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.boundary.endpoints import EndpointError, key_from_environment
from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.learning.served.endpoint import Endpoint
    from truemoment.learning.served.grounder import ServedModel
    from truemoment.learning.served.prompts import PROMPTS, Prompt, get_prompt
    from truemoment.learning.served.raw import RawAnswer, RawAnswers
else:
    __getattr__ = lazy(
        __name__,
        {
            "PROMPTS": "prompts",
            "Endpoint": "endpoint",
            "Prompt": "prompts",
            "RawAnswer": "raw",
            "RawAnswers": "raw",
            "ServedModel": "grounder",
            "get_prompt": "prompts",
        },
    )

__all__ = [
    "PROMPTS",
    "Endpoint",
    "EndpointError",
    "Prompt",
    "RawAnswer",
    "RawAnswers",
    "ServedModel",
    "get_prompt",
    "key_from_environment",
]
