"""All studies of one set of systems, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.metaevaluation.agreement import Agreement
from truemoment.metaevaluation.ambiguity import Ambiguity
from truemoment.metaevaluation.axioms import AxiomResult
from truemoment.metaevaluation.power import Power
from truemoment.metaevaluation.selection import Selection
from truemoment.metaevaluation.stability import Stability
from truemoment.metaevaluation.systems import Systems
from truemoment.metaevaluation.theory import Theory
from truemoment.metaevaluation.ties import Ties


@dataclass(frozen=True, eq=False)
class Studies:
    """What was found of measures, on the same systems.

    Parameters
    ----------
    axioms
        Which axioms each measure holds to; empty where that was not asked.
    agreement, stability, ties, power, selection, theory
        A study each; None where it was not made.
    ambiguity
        A study for each model of label noise.
    simulated_variants
        Whether the variants that were selected among are simulated.
    """

    systems: Systems
    axioms: tuple[AxiomResult, ...] = ()
    agreement: Agreement | None = None
    stability: Stability | None = None
    ties: Ties | None = None
    ambiguity: tuple[Ambiguity, ...] = ()
    power: Power | None = None
    selection: Selection | None = None
    theory: Theory | None = None
    notes: tuple[str, ...] = ()
    simulated_variants: bool = False
