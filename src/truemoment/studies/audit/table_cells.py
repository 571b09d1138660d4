"""Cells of the tables of an audit: a figure with its interval."""

from __future__ import annotations

import math

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.measures import Measure, why_undefined
from truemoment.report.model import Cell
from truemoment.report.words import low_to_high, number, points
from truemoment.studies.audit.results import Results

UNDEFINED = "undefined"


def figure_cell(
    results: Results, measure: Measure, value: float, ci95: Floats, *, why: str = "", marked: bool = False
) -> Cell:
    """Return a figure in percent as the protocol prints it, with its interval; or why it is undefined."""
    if math.isnan(value):
        return Cell(UNDEFINED, why or why_undefined(measure))
    percent = results.setup.protocol.percent
    interval = f"{percent(ci95[0])}\u2013{percent(ci95[1])}" if np.all(np.isfinite(ci95)) else "interval undefined"
    return Cell(percent(value), interval, marked)


def points_cell(difference: float, ci95: Floats, measure: Measure) -> Cell:
    """Return a difference of two figures in percentage points, with its interval; or why it is undefined."""
    if math.isnan(difference):
        return Cell(UNDEFINED, why_undefined(measure))
    return Cell(points(difference, sign="+"), low_to_high(ci95, 1, times=100, sign="+") or "interval undefined")


def number_cell(value: float, ci95: Floats, why: str) -> Cell:
    """Return a number that is not a percentage, with its interval; or why it is undefined."""
    return Cell(UNDEFINED, why) if math.isnan(value) else Cell(number(value), low_to_high(ci95) or "interval undefined")
