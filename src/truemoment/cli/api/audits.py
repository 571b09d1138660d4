"""``truemoment.audit``: whether a model finds the moments, or guesses them."""

from __future__ import annotations

from truemoment.base.request import function_of
from truemoment.learning.training import load_model
from truemoment.studies.audit import reading
from truemoment.studies.audit.request import AuditRequest
from truemoment.studies.audit.run import Audit


def run(request: AuditRequest) -> Audit:
    """Compare predictions with baselines that never see the video.

    Parameters
    ----------
    predictions
        A record, or a file in any format that TrueMoment reads.

    Returns
    -------
    Audit
        Its findings, verdict and figures; it shows its report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant, or they cannot be audited.
    MissingFileError, InputError, MatchError
        If a file is missing or malformed, or predictions match no query.
    """
    return reading.run(request, load=load_model)


audit = function_of(AuditRequest, run, "audit")
