# oif state size: memory and state file of many keys, beforehand. tests/cli/test_fleet_size.c compares its numbers with runs.

load helper

@test "the memory is the sum of its parts, and the options to run with are printed" {
    oif state size --keys 1e6 --columns 10 --rows-per-key 5 --memory-limit 1TB
    exits 0
    equal "$(grep -oE '^memory|packed models|whole models|table of keys|shared by all keys|state file|options' <<< "$output" | xargs)" \
        "memory packed models whole models table of keys shared by all keys state file options"
    contains "$output" "--max-keys 1000000 --memory-limit "
    "$OIF" state size --keys 20000 --columns 3 --rows-per-key 5 --memory-limit 1TB --json > size.json
    python3 - <<'PYTHON'
import json
size = json.load(open("size.json"))
models = sum(size[f"{kind}_models"] * size[f"{kind}_model_bytes"] for kind in ("packed", "whole"))
total = models + size["table_bytes"] + size["shared_bytes"]
assert abs(total / size["memory_bytes"] - 1) < 1e-3, (total, size)
assert size["packed_models"] + size["whole_models"] == size["fitting_keys"] == 20000, size
assert 0 < size["state_file_bytes"] < size["memory_bytes"], size
PYTHON
}

@test "the memory limit to run with is a tenth more than is needed, in two digits" {
    for keys in 700 7000 60000 200000; do
        size=("$OIF" state size --keys "$keys" --columns 3 --rows-per-key 50 --memory-limit 1TB)
        needed=$("${size[@]}" --json | sed 's/.*"memory_bytes": \([0-9]*\).*/\1/')
        limit=$("${size[@]}" | sed -n 's/^options.*--memory-limit //p')
        [ "$(tr -d 0 <<< "${limit%?B}" | wc -c)" -le 3 ]
        python3 -c 'import sys; assert 1.1 <= float(sys.argv[1]) / float(sys.argv[2]) <= 1.22, sys.argv' \
            "$(sed 's/MB/e6/; s/GB/e9/' <<< "$limit")" "$needed"
    done
}

@test "more keys, columns and rows take more, and the settings of a run count" {
    bytes() { "$OIF" state size --memory-limit 1TB --json "$@" | sed 's/.*"memory_bytes": \([0-9]*\).*/\1/'; }
    few=$(bytes --keys 5000 --columns 3 --rows-per-key 20)
    for more in "--keys 6000 --columns 3 --rows-per-key 20" "--keys 5000 --columns 4 --rows-per-key 20" \
        "--keys 5000 --columns 3 --rows-per-key 40"; do
        read -ra options <<< "$more"
        [ "$(bytes "${options[@]}")" -gt "$few" ]
    done
    [ "$(bytes --keys 5000 --columns 3 --rows-per-key 20 --num-trees 16)" -lt "$few" ]
    [ "$(bytes --keys 5000 --columns 3 --rows-per-key 20 --season off)" -lt "$few" ]
    [ "$(bytes --keys 5000 --columns 3 --rows-per-key 20 --season 1d --season 1w)" -ne "$few" ]
}

@test "a lower limit that saves memory is printed, and takes no more than it says" {
    fleet=(--keys 20000 --columns 10 --num-trees 16 --window-size 256 --sample-size 48 --max-depth 4 --max-leaf-samples 12 --season off)
    oif state size "${fleet[@]}" --memory-limit 1TB
    least=$(sed -nE 's/^at least +([0-9.]+ [A-Z]+) .*/\1/p' <<< "$output")
    limit=$(sed -n 's/.*if all are packed: a memory limit of //p' <<< "$output")
    python3 - "$(sed -nE 's/^memory +([0-9.]+) MB/\1/p' <<< "$output")" "$least" "$limit" \
        "$("$OIF" state size "${fleet[@]}" --memory-limit "$limit" --json)" <<'PYTHON'
import json, sys
memory, (least, unit), limit = float(sys.argv[1]) * 1e6, sys.argv[2].split(), sys.argv[3]
least = float(least) * {"MB": 1e6, "GB": 1e9}[unit]
limit = float(limit[:-2]) * {"MB": 1e6, "GB": 1e9}[limit[-2:]]
limited = json.loads(sys.argv[4])
assert least < limit < memory, sys.argv
assert limited["fitting_keys"] == 20000 and limited["memory_bytes"] <= limit, limited
PYTHON
    oif state size --keys 1e6 --columns 10 --rows-per-key 5 --memory-limit 1TB
    [[ "$output" != *"at least"* ]]
}

@test "models that packing does not make smaller count in full" {
    bytes() { "$OIF" state size --memory-limit 1TB --json --detector rrcf --keys 1e5 --columns 3 "$@" | sed 's/.*"memory_bytes": \([0-9]*\).*/\1/'; }
    [ "$(bytes --rows-per-key 1500)" -ge "$(bytes --rows-per-key 100)" ]
}

@test "a limit without room for all keys is reported, with the number that fits" {
    run "$OIF" state size --keys 1e6 --columns 3 --rows-per-key 5 --memory-limit 100MB
    equal "$status" 0
    contains "$output" "oif: 100 MB, the memory limit, has room for about "
    contains "$output" " of these keys; rows of the others get no score"
    oif state size --keys 1000 --columns 3 --rows-per-key 5 --memory-limit 400MB
    exits 0
}

@test "what is missing, out of range or too small is refused" {
    oif state size --columns 3
    exits 2 "oif: size needs --keys N and --columns D"
    oif state size --keys 3
    exits 2 "oif: size needs --keys N and --columns D"
    oif state size --keys 0 --columns 3
    exits 2 "oif: --keys: expected a whole number from 1 to 1e9, not '0'"
    oif state size --keys 10 --columns 3 --rows-per-key 1e9
    exits 2 "oif: --rows-per-key: expected a whole number from 1 to 1e5, not '1e9'"
    run "$OIF" state size --keys 10 --columns 3 --memory-limit 1K
    equal "$status" 2
    contains "$output" "--memory-limit is too small for a single model"
}
