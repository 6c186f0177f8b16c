#!/usr/bin/env bash
# Prints the table of kilobytes per key in docs/measurements/fleets.md, by detector, columns and rows, as `oif state size` expects them.
#   tools/measure/key_memory.sh [BUILD]     BUILD: where oif is, build/release-gcc if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
oif=${1:-build/release-gcc}/oif

# Kilobytes of a model: field of `oif state size --json`, columns, rows, settings.
kilobytes() {
    local field=$1 columns=$2 rows=$3
    "$oif" state size --keys 1e6 --columns "$columns" --rows-per-key "$rows" --memory-limit 1TB --json "${@:4}" 2> /dev/null |
        sed -E "s/.*\"${field}_model_bytes\": ([0-9]+).*/\1/" | awk -v digits="$([[ $field == packed ]] && echo 1 || echo 0)" '{printf "%.*f", digits, $1 / 1000}'
}

line() {
    local name=$1 columns=$2
    printf "| \`%s\` | %s |" "$name" "$columns"
    for rows in 3 100 480 2048; do
        printf ' %s |' "$(kilobytes packed "$columns" "$rows" "${@:3}")"
    done
    printf ' %s |\n' "$(kilobytes whole "$columns" 1 "${@:3}")"
}

echo "| detector | columns | 3 rows | 100 rows | 480 rows | 2,048 rows | whole |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for detector in $("$oif" score --detector help 2>&1 | sed -n 's/.*choose one of: //; s/,//gp'); do
    for columns in 3 10 36; do
        line "$detector" "$columns" --detector "$detector"
    done
done
for columns in 3 10 36; do
    line small "$columns" --num-trees 16 --window-size 256 --sample-size 48 --max-depth 4 --max-leaf-samples 12
done
