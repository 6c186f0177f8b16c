#!/usr/bin/env bash
# Builds what an experiment needs, and runs it. The options are those of the experiment: --help lists them.
#
#   experiments/run.sh reality        what is found in recorded series, and how many alerts have no cause: make reality
#   experiments/run.sh operations     which operational anomalies are found, how soon, and how many false alerts: make operations
#   experiments/run.sh calibration    the scales that make severities of the scores of detectors, beside measured ones
#   experiments/run.sh short          tables of 50 to 2,000 rows beside scikit-learn's IsolationForest and ECOD
#   experiments/run.sh accuracy       median AUC on the paper's data sets; --anchors: beside others' detectors; --kinds: by kind
#   experiments/run.sh forgetting     the window of online-iforest beside its turnover
#   experiments/run.sh paper          the paper's tables, figures and claims, 30 executions: experiments/results/report.html
#   experiments/run.sh paper-quick    the same with few executions of small sets, and its tests
#   experiments/run.sh data           fetches the paper's public data sets into ~/.cache/oif/data (OIF_DATA is looked in first)
#   experiments/run.sh ablation       what each ingredient of turnover and rolling-iforest is worth
set -euo pipefail

cd "$(dirname "$0")/.."
name=${1:-}
shift || true

has() { # has OPTION ARGUMENT...
    [[ " ${*:2} " == *" $1 "* ]]
}

program() {
    tools/build/build.sh release-gcc
}

python() { # python NAME [OPTION...]: in build/NAME-venv
    tools/build/make_venv.sh "$1"
    "build/$1-venv/bin/python" "${@:2}"
}

aws_forest() {
    tools/measure/make_aws_forest.sh
}

tools/build/install_dependencies.sh test
case $name in
reality) program; has --quick "$@" || aws_forest; python paper -m experiments.reality --oif build/release-gcc/oif "$@" ;;
operations) program; python paper -m "experiments.$name" --oif build/release-gcc/oif "$@" ;;
calibration) program; python paper -m experiments.reality.calibration --oif build/release-gcc/oif "$@" ;;
short) python test -m experiments.short "$@" ;;
accuracy)
    if has --anchors "$@"; then aws_forest; python bench tools/measure/accuracy.py "$@"; else python test tools/measure/accuracy.py "$@"; fi ;;
forgetting) python test tools/measure/forgetting.py "$@" ;;
paper) python paper -m experiments "$@" ;;
paper-quick)
    python paper -m pytest -q -rs -p no:cacheprovider --color=no experiments/tests
    python paper -m experiments --quick --fresh "$@" ;;
data) python paper -m experiments --only data ;;
ablation) python paper -m experiments.ablation "$@" ;;
*) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
