# oif detectors: what there is to choose from.

load helper

@test "every detector is listed with its paper, cost, memory and parameters" {
    run "$OIF" detectors
    [ "$status" -eq 0 ]
    names=$(grep -c '^[a-z-]*: ' <<<"$output")
    [ "$names" -ge 1 ]
    for line in 'choose it ' 'cost/row ' 'memory  ' 'parameters '; do
        [ "$(grep -c "^  $line" <<<"$output")" -eq "$names" ]
    done
    [[ $output == "rolling-iforest: "* ]] # the default comes first
}

@test "every listed detector scores a stream" {
    printf 'a,b\n1,2\n2,1\n1,1\n' >"$BATS_TEST_TMPDIR/rows.csv"
    for name in $("$OIF" detectors | sed -n 's/^\([a-z-]*\): .*/\1/p'); do
        run "$OIF" score -q --detector "$name" "$BATS_TEST_TMPDIR/rows.csv"
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -eq 4 ]
    done
}

@test "more numbers in a row take more memory" {
    small=$("$OIF" detectors --dimension 3 | sed -n 's/.*memory *\([0-9]*\) KB.*/\1/p' | head -1)
    large=$("$OIF" detectors --dimension 36 | sed -n 's/.*memory *\([0-9]*\) KB.*/\1/p' | head -1)
    [ "$small" -lt "$large" ]
}

@test "a dimension that is no whole number is refused" {
    run "$OIF" detectors --dimension 2.5
    [ "$status" -eq 2 ]
    [[ $output == *"whole number"* ]]
}
