"""Reports of the studies of measures: one module per study, with ``section(result)`` and ``document(result)``.

``studies`` has the report of one or several studies, ``verdict`` the answer over all of them. ``looks`` and ``spans``
have the parts that figures and sentences of several studies share.
"""

from __future__ import annotations

from truemoment.studies.meta.reports.studies import StudyReport, document, report, study_reports

__all__ = ["StudyReport", "document", "report", "study_reports"]
