#!/usr/bin/env bash
# Runs tests of `oif serve`, whose program is $OIF, with pytest in build/serve-venv, which is made first if need be.
#
#   tests/serve/run.sh FILE... [PYTEST OPTION...]
set -euo pipefail

checkout=$(cd "$(dirname "$0")/../.." && pwd)
"$checkout/tools/build/make_venv.sh" serve
exec "$checkout/build/serve-venv/bin/python" -m pytest -q -rs -p no:cacheprovider --color=no --rootdir "$checkout/tests/serve" "$@"
