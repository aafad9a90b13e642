"""What training lets one choose between, in words; nothing here is slow to import."""

from typing import Literal

DEFAULT_MEASURE = "nDCG(dcg='exp-log2')@10"

RiskObjective = Literal["urisk", "tsaro", "tfaro", "georisk"]
"""What rankers are trained for, beside the plain effectiveness measure."""
StopOn = Literal["mean", "urisk", "trisk", "georisk"]
"""What tells when to stop training; `mean` is that of the effectiveness measure."""
Discount = Literal["full", "cut"]
"""Whether swaps below a measure's cutoff count in training."""
Ties = Literal["shuffled", "file"]
"""How equal scores are ranked in training."""
QueryRisk = Literal["weighted", "plain", "se"]
"""What T_R of a query is: w / s_w, delta / s_w, or delta over the standard error."""
Spread = Literal["current", "first"]
"""Whether s_w is that of each iteration, or of the first."""
Marginals = Literal["frozen", "exact"]
"""Whether a swap changes only its own query's z, or every one."""
