#!/bin/sh
# Builds the run and judges it against the last one that was accepted: `sh gate.sh`.
# `sh gate.sh --accept` also keeps it if it passes, as CI does after a merge; so does the first call.
set -eu
cd "$(dirname "$0")"
python3 rank.py > candidate.run
state=state.json
if [ "${1-}" = --accept ]; then
  shift
elif [ -e state.json ]; then
  state=judged.json  # a copy: what is judged is not kept
  cp state.json judged.json
fi
exec riskeval check candidate.run --ratchet "$state" "$@"
