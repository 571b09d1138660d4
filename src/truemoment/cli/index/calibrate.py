"""truemoment index calibrate: when a search of an index may stop."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log
from truemoment.cli.outputs import progress_bar
from truemoment.cli.parts import Output
from truemoment.searching.request import CalibrationRequest


@binder.command("calibrate")
def command(request: CalibrationRequest, output: Output) -> None:
    """Measure when a search of INDEX may stop, and keep it in the index.

    Videos are scored in the order of their best pieces of 4 s. This measures, for the sentences and a
    sample of videos, how far a search must go to find the best K moments. A search for up to K moments
    then stops there, in place of after 20 videos.

    \b
    truemoment index calibrate videos.index --sentences sentences.txt
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching import report as reports
    from truemoment.searching.calibration import calibrate_index

    calibration = calibrate_index(request, progress_bar("calibrating", "video", show=output.progress))
    where = str(request.index_path)
    report = reports.report_of_calibration(calibration, where)
    deliver_log(report, lambda: reports.document_of_calibration(calibration, where), output)
