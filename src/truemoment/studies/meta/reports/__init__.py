"""Reports of the studies of measures: a module a study, with ``section(result)`` and ``document(result)``.

``studies`` makes the report of one or several, ``verdict`` the answer over all of them by the rule in ``ranking``;
``looks`` and ``spans`` have what figures and sentences of the studies share.
"""

from __future__ import annotations

from truemoment.studies.meta.reports.studies import StudyReport, document, report, study_reports

__all__ = ["StudyReport", "document", "report", "study_reports"]
