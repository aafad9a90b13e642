#!/bin/sh
# Builds the run and judges it against the last one that was accepted: `sh gate.sh`.
# `sh gate.sh --accept` also keeps it if it passes, as CI does after a merge; so does the first call.
set -eu
cd "$(dirname "$0")"
python3 rank.py > candidate.run
accept=
if [ "${1-}" = --accept ]; then
  accept=--update-baseline=baseline.json
  shift
fi
if [ ! -e baseline.json ]; then
  exec riskeval matrix candidate.run -o baseline.json
fi
exec riskeval check candidate.run --baseline baseline.json ${accept:+"$accept"} "$@"
