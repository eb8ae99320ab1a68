#!/usr/bin/env bash
# One prepared run of the gpu lane on random weights: the whole lane on the 0.5B shape, the quick
# lane on the 8B shape, at most ten minutes together. Usage: scripts/gpu_run.sh [OUT_FOLDER]
#
# Uses the node's own python3, torch and transformers. Wheels of what the node lacks may lie in
# .whl/ beside this checkout's pyproject.toml (see docs/gpu.md); nothing is fetched.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
out="${1:-${OUT:-reports/out}}"
mkdir -p "$out"
export PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1

if compgen -G '.whl/*.whl' >/dev/null; then
    python3 -m pip install -q --no-index --no-deps --no-compile --target /tmp/onecall-site \
        --upgrade .whl/*.whl || exit 2
    export PYTHONPATH="/tmp/onecall-site${PYTHONPATH:+:$PYTHONPATH}"
fi

python3 - <<'PY' || exit 2
import importlib, sys
missing = []
for name in ("torch", "transformers", "pytest", "pytest_html", "hypothesis", "scipy",
             "matplotlib", "jsonschema", "pynvml"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        missing.append(f"{name} ({error})")
if missing:
    sys.exit("missing here: " + ", ".join(missing) + "; docs/gpu.md says how to bring them")
import pytest, torch
if tuple(map(int, pytest.__version__.split(".")[:1])) < (9,):
    sys.exit(f"pytest {pytest.__version__} does not read this checkout's settings; bring 9 or later")
if not torch.cuda.is_available():
    sys.exit("torch sees no CUDA device here")
print(torch.cuda.get_device_name(), "torch", torch.__version__)
PY

# A limit stops pytest as Ctrl-C does: every finished claim is in the ledger, the page is written
# and says that the run is unfinished, and --resume goes on with it.
lane() { # NAME SECONDS ARGUMENTS...
    local name="$1" seconds="$2"
    shift 2
    timeout --signal=INT --kill-after=20 "$seconds" \
        python3 -m pytest -m gpu --device cuda -q --ledger "$out/$name.jsonl" "$@"
    local status=$?
    echo "$name: exit status $status"
    return "$status"
}

worst=0
lane qwen2.5-0.5b "${SECONDS_SMALL:-330}" --model random:qwen2.5-0.5b \
    claims/phases claims/roofline claims/memory claims/batching claims/prefix || worst=$?
lane qwen3-8b "${SECONDS_LARGE:-240}" --model random:qwen3-8b \
    claims/phases/test_decode_per_token_cost.py claims/phases/test_decode_ignores_context.py \
    claims/phases/test_short_prompts_are_flat.py claims/phases/test_first_token_grows.py \
    claims/roofline/test_weights_floor.py claims/roofline/test_eager_is_far_from_the_floor.py \
    claims/roofline/test_passes_lie_under_the_roof.py \
    claims/batching/test_rides_free.py claims/batching/test_throughput_rises_with_the_batch.py \
    claims/prefix/test_saving_shows_beyond_the_knee.py claims/prefix/test_published_first_tokens.py \
    claims/phases/test_published_step_times.py claims/phases/test_published_reply_times.py || worst=$?
exit "$worst"
