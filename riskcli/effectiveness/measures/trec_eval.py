"""All measures that pytrec_eval computes per topic.

(Its `relstring`, `runid` and `num_q` are no scores; pytrec_eval answers 0.0 for `relstring`.)
"""

from functools import partial
from math import inf

import numpy as np

from riskcli.core.arrays import logarithms
from riskcli.effectiveness.measures import REL, Family, Parameter


def _gain(text: str) -> str:
    if text not in ("log2", "exp-log2"):
        raise ValueError(f"dcg is {text!r}, expected 'log2' or 'exp-log2'")
    return text


_DCG = Parameter(
    "dcg", "log2", "{0}(dcg='exp-log2')@20 is the Web track's, gain 2^grade - 1.", _gain
)

_of_relevant = partial(Family, parameters=(REL,), relevant_alone=True)
_of_logarithms = partial(
    Family, unanswered=float(logarithms(np.zeros(()))), logarithm=True, most=0.0
)
_count = partial(Family, most=inf)

FAMILIES = (
    Family(
        "nDCG",
        "normalised discounted cumulative gain (dcg='exp-log2': gain 2^grade - 1)",
        "optional cutoff",
        plain="ndcg",
        cut="ndcg_cut",
        parameters=(_DCG,),
        relevant_alone=True,
    ),
    _of_relevant("AP", "average precision", "optional cutoff", "map", "map_cut"),
    _of_relevant("P", "precision", "cutoff", cut="P"),
    _of_relevant("R", "recall", "cutoff", cut="recall"),
    _of_relevant("RR", "reciprocal rank", "optional cutoff", "recip_rank"),
    _of_relevant("Success", "1 where a relevant document is found", "cutoff", cut="success"),
    _of_relevant("Rprec", "precision at the number of relevant", "none", "Rprec"),
    Family("Bpref", "preference for relevant over non-relevant", "none", "bpref", "", (REL,)),
    Family("infAP", "inferred average precision", "none", "infAP", "", (REL,)),
    _of_relevant(
        "IPrec", "interpolated precision at a recall", "value", cut="iprec_at_recall", highest=1
    ),
    _of_relevant("SetP", "precision of the whole list", "none", "set_P"),
    _of_relevant("SetR", "recall of the whole list", "none", "set_recall"),
    _of_relevant("SetF", "F of the whole list", "none", "set_F"),
    _of_relevant("SetAP", "set_P times set_recall", "none", "set_map"),
    _count("NumRet", "documents retrieved", "none", "num_ret"),
    _count("NumRel", "relevant documents", "none", "num_rel", "", (REL,)),
    _count("NumRelRet", "relevant documents retrieved", "none", "num_rel_ret", "", (REL,)),
    Family("11pt_avg", "mean interpolated precision at 11 recalls", "none", "11pt_avg"),
    Family("G", "normalised gain", "none", "G"),
    Family("binG", "binary G", "none", "binG"),
    Family("Rndcg", "nDCG to the depth R", "none", "Rndcg"),
    Family("ndcg_rel", "nDCG averaged over recalls", "none", "ndcg_rel"),
    _of_logarithms("gm_map", "logarithm of average precision, its mean geometric", plain="gm_map"),
    _of_logarithms("gm_bpref", "logarithm of bpref, its mean geometric", plain="gm_bpref"),
    Family("relative_P", "precision over the best possible", "cutoff", cut="relative_P"),
    Family("Rprec_mult", "precision at a multiple of R", "value", cut="Rprec_mult", highest=100),
    Family("set_relative_P", "relative precision of the list", "none", "set_relative_P"),
    _count("utility", "relevant less non-relevant retrieved", "none", "utility"),
    _count("num_nonrel_judged_ret", "judged non-relevant", "none", "num_nonrel_judged_ret"),
)
