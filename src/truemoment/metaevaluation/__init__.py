"""What measures are worth: whether they agree, hold still and reward what they should, and which to select by.

===============================================  =======================================================================
:mod:`~truemoment.metaevaluation.systems`        per-query statistics of several systems, from which all studies start
:mod:`~truemoment.metaevaluation.loading`        systems from files, simulated ones, baselines; variants of one
:mod:`~truemoment.metaevaluation.rankings`       how far two rankings agree: Kendall's tau-b
:mod:`~truemoment.metaevaluation.axioms`         does a measure ignore redundant answers and reward better ones?
:mod:`~truemoment.metaevaluation.agreement`      which measures rank systems alike
:mod:`~truemoment.metaevaluation.stability`      does a measure rank alike on other queries, and on fewer?
:mod:`~truemoment.metaevaluation.noise`          labels as others might have marked them
:mod:`~truemoment.metaevaluation.ambiguity`      what figures and rankings become under such labels
:mod:`~truemoment.metaevaluation.ties`           on how many queries a measure gives all systems the same value
:mod:`~truemoment.metaevaluation.theory`         bias and variance of measures under noise of the IoU
:mod:`~truemoment.metaevaluation.selection`      which validation measure selects variants that test well
:mod:`~truemoment.metaevaluation.power`          which differences can be shown with how many queries
:mod:`~truemoment.metaevaluation.simulation`     simulated systems: what a recipe makes of a query
:mod:`~truemoment.metaevaluation.population`     populations of them, and how alike their systems are
:mod:`~truemoment.metaevaluation.studies`        all studies side by side
:mod:`~truemoment.metaevaluation.all_studies`    makes all studies of loaded systems
:mod:`~truemoment.metaevaluation.claims`         what the AxIoU paper found, compared with what is found here
===============================================  =======================================================================

``system_files`` reads what ``loading`` names, ``label_noise`` does the same for models of noise;
``minimal_pairs`` and ``shrinking`` make the counterexamples of ``axioms``; ``workers`` shares out long work.

References
----------
R. Togashi, M. Otani, Y. Nakashima, E. Rahtu, J. Heikkilä and T. Sakai, AxIoU: an axiomatically justified measure for
video moment retrieval, CVPR 2022.
"""

from __future__ import annotations

from truemoment.metaevaluation.axioms import check_axioms

__all__ = ["check_axioms"]
