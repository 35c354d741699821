"""Many runs on one file: which columns form the best groups, and which release is the better one."""

from microagg.study.candidate import Candidate
from microagg.study.comparison import Comparison, compare
from microagg.study.subsets import SubsetLosses, best_subset, select_variables

__all__ = ["Candidate", "Comparison", "SubsetLosses", "best_subset", "compare", "select_variables"]
