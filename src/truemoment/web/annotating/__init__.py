"""People mark the moment that a sentence describes: studies, how queries are dealt, storage, pages and export.

A study is a folder. :func:`~truemoment.web.annotating.creation.new_study` makes it from annotations and videos,
:mod:`~truemoment.web.annotating.preparing` makes its videos playable, :mod:`~truemoment.web.annotating.serving` is the
page, and :func:`~truemoment.web.annotating.exporting.export_study` writes what people marked. The log of events in
``study.sqlite`` is the truth: answers and states of tasks are rebuilt from it.
"""

PORT = 8790
"""Port of a study's page; a fixed one, so that links stay valid."""
