"""All studies of one set of systems, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.studies.meta.agreement import Agreement
from truemoment.studies.meta.ambiguity import Ambiguity
from truemoment.studies.meta.axioms import AxiomResult
from truemoment.studies.meta.power import Power
from truemoment.studies.meta.selection import Selection
from truemoment.studies.meta.stability import Stability
from truemoment.studies.meta.systems import Systems
from truemoment.studies.meta.theory import Theory
from truemoment.studies.meta.ties import Ties


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
