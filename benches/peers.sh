# Where each library's interpreter is, and what its environment needs.
#
# BENCH_PYTHON has millpond and NumPy (`cargo xtask bench` sets it). BENCH_PEERS is a folder of virtual environments,
# one per peer, made by hand:
#
#   python3 -m venv "$BENCH_PEERS/torch" && "$BENCH_PEERS/torch/bin/pip" install torch array-api-compat numpy
#   python3 -m venv "$BENCH_PEERS/jax"   && "$BENCH_PEERS/jax/bin/pip"   install jax numpy
#   python3 -m venv "$BENCH_PEERS/dpctl" && "$BENCH_PEERS/dpctl/bin/pip" install 'dpctl<0.22' intel-opencl-rt numpy
#   python3 -m venv "$BENCH_PEERS/numexpr" && "$BENCH_PEERS/numexpr/bin/pip" install numexpr numpy
BENCH_PYTHON=${BENCH_PYTHON:-python3}
BENCH_PEERS=${BENCH_PEERS:-$HOME/.cache/millpond-bench}

declare -A PYTHON ENVIRONMENT
PYTHON[numpy]=$BENCH_PYTHON
PYTHON[millpond]=$BENCH_PYTHON
for peer in numexpr dpctl torch jax; do
  PYTHON[$peer]=$BENCH_PEERS/$peer/bin/python
done
ENVIRONMENT[dpctl]="OCL_ICD_FILENAMES=$BENCH_PEERS/dpctl/lib/libintelocl.so LD_LIBRARY_PATH=$BENCH_PEERS/dpctl/lib"
ENVIRONMENT[torch]="TORCHINDUCTOR_CACHE_DIR=$BENCH_PEERS/inductor"
