"""Effectiveness: a run and qrels to one score per topic, through pytrec_eval."""
