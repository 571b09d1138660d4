"""Studies of measures: agreement, stability, axioms, label noise, ties, power, and model selection.

===========================================  =====================================================================
:mod:`~truemoment.studies.meta.systems`      per-query statistics of several systems, from which all studies start
:mod:`~truemoment.studies.meta.request`      the systems of a study, variants of one, the noise, numbers of draws
:mod:`~truemoment.studies.meta.loading`      systems from files, measured
:mod:`~truemoment.studies.meta.rankings`     agreement of two rankings: Kendall's tau-b
:mod:`~truemoment.studies.meta.axioms`       does a measure ignore redundant answers and reward better ones?
:mod:`~truemoment.studies.meta.agreement`    which measures rank systems alike
:mod:`~truemoment.studies.meta.stability`    does a measure give the same ranking on other or fewer queries?
:mod:`~truemoment.studies.meta.noise`        noisy labels, as other annotators might mark them
:mod:`~truemoment.studies.meta.ambiguity`    change of figures and rankings under such labels
:mod:`~truemoment.studies.meta.ties`         number of queries on which all systems have the same value
:mod:`~truemoment.studies.meta.theory`       bias and variance of measures under noise of the IoU
:mod:`~truemoment.studies.meta.selection`    which validation measure selects variants that test well
:mod:`~truemoment.studies.meta.power`        which differences can be shown with how many queries
:mod:`~truemoment.studies.meta.simulation`   simulated systems: recipes and their answers
:mod:`~truemoment.studies.meta.population`   populations of simulated systems, and their similarity
:mod:`~truemoment.studies.meta.all_studies`  all studies of loaded systems
:mod:`~truemoment.studies.meta.claims`       claims of the AxIoU paper, compared with the results here
===========================================  =====================================================================

``minimal_pairs`` draws the lists of ``axioms``; ``workers`` runs long work in threads.

References
----------
R. Togashi, M. Otani, Y. Nakashima, E. Rahtu, J. Heikkilä and T. Sakai, AxIoU: an axiomatically justified measure for
video moment retrieval, CVPR 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.studies.meta.axioms import check_axioms
else:
    __getattr__ = lazy(__name__, {"check_axioms": "axioms"})

__all__ = ["check_axioms"]
