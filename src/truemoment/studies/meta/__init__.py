"""What measures are worth: whether they agree, hold still and reward what they should, and which to select by.

===========================================  =====================================================================
:mod:`~truemoment.studies.meta.systems`      per-query statistics of several systems, from which all studies start
:mod:`~truemoment.studies.meta.loading`      systems from files, simulated ones, baselines; variants of one
:mod:`~truemoment.studies.meta.rankings`     how far two rankings agree: Kendall's tau-b
:mod:`~truemoment.studies.meta.axioms`       does a measure ignore redundant answers and reward better ones?
:mod:`~truemoment.studies.meta.agreement`    which measures rank systems alike
:mod:`~truemoment.studies.meta.stability`    does a measure rank alike on other queries, and on fewer?
:mod:`~truemoment.studies.meta.noise`        labels as others might have marked them
:mod:`~truemoment.studies.meta.ambiguity`    what figures and rankings become under such labels
:mod:`~truemoment.studies.meta.ties`         on how many queries a measure gives all systems the same value
:mod:`~truemoment.studies.meta.theory`       bias and variance of measures under noise of the IoU
:mod:`~truemoment.studies.meta.selection`    which validation measure selects variants that test well
:mod:`~truemoment.studies.meta.power`        which differences can be shown with how many queries
:mod:`~truemoment.studies.meta.simulation`   simulated systems: what a recipe makes of a query
:mod:`~truemoment.studies.meta.population`   populations of them, and how alike their systems are
:mod:`~truemoment.studies.meta.all_studies`  all studies of loaded systems, side by side
:mod:`~truemoment.studies.meta.claims`       what the AxIoU paper found, compared with what is found here
===========================================  =====================================================================

``minimal_pairs`` makes the counterexamples of ``axioms``; ``workers`` shares out long work.

References
----------
R. Togashi, M. Otani, Y. Nakashima, E. Rahtu, J. Heikkilä and T. Sakai, AxIoU: an axiomatically justified measure for
video moment retrieval, CVPR 2022.
"""

from __future__ import annotations

from truemoment.studies.meta.axioms import check_axioms

__all__ = ["check_axioms"]
