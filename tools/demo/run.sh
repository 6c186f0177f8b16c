#!/usr/bin/env bash
# Builds what a larger demonstration needs, and runs it. `make demo` is the small one.
#
#   tools/demo/run.sh serve [--listen 127.0.0.1:8080]    a live page of six pumps on http://127.0.0.1:8571
#   tools/demo/run.sh flink [--stay]                     a job on a Flink cluster of this machine, kill -9, the same bits:
#                                                        some minutes, 0.6 GB of downloads once
set -euo pipefail

cd "$(dirname "$0")/../.."
name=${1:-}
shift || true
case $name in serve | flink) ;; *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
make --no-print-directory build
[ "$name" != flink ] || tools/build/make_flink_job.sh
exec "tools/demo/demo_$name.py" build/release/oif "$@"
