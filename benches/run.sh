#!/usr/bin/env bash
# Measures libraries in turn, so that what else the machine does hits all alike: for each round, for each group of
# cases, each library once; the order rotates. Normally called by `cargo xtask bench`.
#
#   LIBS      libraries, as benches/peers.sh lists them      ROUNDS  repetitions of everything
#   GROUPS_   groups of cases, commas within one process     BUDGET  seconds of timed repetitions per case
#   CASE      only cases whose name contains this            OUT     folder of the results
#   LIMIT     seconds after which a process is stopped
set -euo pipefail
cd "$(dirname "$0")"
source ./peers.sh

LIBS=${LIBS:-numpy millpond}
ROUNDS=${ROUNDS:-1}
BUDGET=${BUDGET:-0.2}
GROUPS_=${GROUPS_:-"overhead,alloc,sweep elementwise chain users reduce sort index linalg decompose,fft manip"}
CASE=${CASE:-}
OUT=${OUT:-../target/bench}
LIMIT=${LIMIT:-600}

mkdir -p "$OUT"
turn=0
for ((round = 1; round <= ROUNDS; round++)); do
  for group in $GROUPS_; do
    read -ra libs <<<"$LIBS"
    for ((i = 0; i < turn % ${#libs[@]}; i++)); do libs=("${libs[@]:1}" "${libs[0]}"); done
    turn=$((turn + 1))
    for lib in "${libs[@]}"; do
      begin=$SECONDS
      code=0
      read -ra environment <<<"${ENVIRONMENT[$lib]:-}"
      env "${environment[@]}" timeout "$LIMIT" "${PYTHON[$lib]}" bench.py --lib "$lib" --group "$group" \
        --case "$CASE" --budget "$BUDGET" --round "$round" --out "$OUT/$round.jsonl" >>"$OUT/$lib.log" 2>&1 || code=$?
      echo "round $round: $group: $lib: $((SECONDS - begin)) s$( ((code == 0)) || echo ", exit code $code, see $OUT/$lib.log")"
    done
  done
done
