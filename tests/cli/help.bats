# --help is short, --help-all is complete; both come from the tables of options.

load helper

# shellcheck disable=SC2086 # the name of a command may be two words

commands=(score eval serve state "state inspect" "state feedback" "state size" demo)
few_options=(serve state "state inspect" "state feedback" demo)

# Lines "GROUP --flag" of the help on stdin.
grouped_flags() {
    awk '/^Usage:/ { is_begun = 1; next }
         is_begun && /^[A-Z].*:$/ { group = $1; sub(/:$/, "", group) }
         is_begun && /^  --/ { print (group == "" ? "(none)" : group), $1 }
         /^$/ { group = "" }'
}

# The flags that the tables have, one per line: what bash completes.
flags_of() {
    "$OIF" completions bash | sed -n "s/^    $1:-\*) _oif_words \"\(.*\)\" ;;/\1/p" | tr ' ' '\n' | sort
}

@test "--help starts with examples, has at most 50 lines of 80 columns, and names --help-all at its end" {
    for command in "${commands[@]}" completions manual; do
        oif $command --help
        exits 0
        equal "${lines[1]}" "Examples:"
        contains "$output" "Usage: oif $command"
        contains "${lines[-1]}" "'oif $command --help-all'"
        equal "$command: $(awk 'END { if (NR > 50) print NR " lines" }' <<< "$output")" "$command: "
        equal "$command: $(awk 'length > 80 || / $/' <<< "$output")" "$command: "
    done
    equal "$("$OIF" --help | awk 'length > 80 || / $/')" ""
}

@test "--help has one line per option, and -h is --help" {
    for command in "${commands[@]}"; do
        "$OIF" $command --help > help
        equal "$command: $(sed -n '/^Usage:/,$p' help | sed '1d;$d' | grep -Ev '^$|^[A-Z][a-z]*:$|^  --[a-z-]+ ')" "$command: "
        "$OIF" $command -h | cmp - help
    done
}

@test "--help-all is no wider than 80 columns" {
    for detector in $(detector_names); do
        equal "$detector: $("$OIF" score --help-all --detector "$detector" | awk 'length > 80 || / $/')" "$detector: "
    done
    for command in "${commands[@]}"; do
        equal "$command: $("$OIF" $command --help-all | awk 'length > 80 || / $/')" "$command: "
    done
}

@test "every option of the tables is in --help-all exactly once, and in a group" {
    for command in "${commands[@]}"; do
        for detector in $(detector_names); do
            choice=()
            [[ $command =~ ^(score|eval|state size)$ ]] && choice=(--detector "$detector")
            "$OIF" $command --help-all "${choice[@]}" | grouped_flags > grouped
            equal "$command $detector twice: $(cut -d ' ' -f 2 grouped | sort | uniq -d)" "$command $detector twice: "
            equal "$command $detector without a group: $(grep '^(none)' grouped)" "$command $detector without a group: "
            cut -d ' ' -f 2 grouped
        done | sort -u > listed
        flags_of "${command// /-}" > known
        equal "$command: $(grep -c . known)" "$command: $(grep -c . listed)"
        diff listed known
    done
}

@test "the groups of oif score have what their names say" {
    "$OIF" score --help-all | grouped_flags > grouped
    equal "$(cut -d ' ' -f 1 grouped | uniq | tr '\n' ' ')" "Input Columns Alerts Output State Keys Detector Parameters Help "
    for pair in "Input --format" "Columns --columns" "Alerts --alert-rate" "Output --output" "State --state" "Keys --key" \
        "Detector --detector" "Parameters --num-trees" "Help --help-all"; do
        grep -qx -- "$pair" grouped || { echo "not so: $pair" >&2; return 1; }
    done
}

@test "what --help shows is in the same group of --help-all, and all of it where a command has few options" {
    for command in "${commands[@]}"; do
        "$OIF" $command --help | grouped_flags | sort > short
        "$OIF" $command --help-all | grouped_flags | sort > all
        equal "$command: $(comm -23 short all)" "$command: "
        [[ $(grep -c . short) -gt 0 ]]
    done
    for command in "${few_options[@]}"; do
        "$OIF" $command --help | grouped_flags > short
        "$OIF" $command --help-all | grouped_flags | grep -v '^Help ' > all
        diff short all
    done
}

@test "the examples of --help come first in --help-all" {
    for command in "${commands[@]}"; do
        "$OIF" $command --help | sed -n '/^Examples:/,/^$/p' | sed '$d' > short
        "$OIF" $command --help-all | head -n "$((2 + $(grep -c '' short)))" | tail -n +3 > all
        diff short all
    done
}

@test "options are written as they are typed: --alert-rate, not alert_rate" {
    for command in "${commands[@]}"; do
        for detector in $(detector_names); do
            if [[ $command =~ ^(score|eval|state size)$ ]]; then
                "$OIF" $command --help-all --detector "$detector"
            fi
        done > text
        { "$OIF" $command --help; "$OIF" $command --help-all; "$OIF" manual "${command// /-}"; } >> text
        for flag in $(flags_of score | sed -n 's/^--\(.*-.*\)/\1/p'); do
            equal "$command: $(grep -w -- "${flag//-/_}" text)" "$command: "
        done
    done
}

@test "--help-all shows the parameters of the detector that is named, before or after it" {
    for arguments in "--detector rrcf --help-all" "--help-all --detector rrcf"; do
        # shellcheck disable=SC2086 # several words
        oif score $arguments
        exits 0
        contains "$output" "Parameters of rrcf:"
    done
    oif score --help-all --nonsense
    exits 0
    oif score --nonsense --help-all
    exits 2 "oif: unknown option '--nonsense' ('oif score --help-all' lists all)"
    oif score --help-al
    exits 2 "oif: unknown option '--help-al'; did you mean --help-all? ('oif score --help-all' lists all)"
}

@test "the whole text of an option is in the manual page" {
    for command in "${commands[@]}"; do
        "$OIF" manual "${command// /-}" | mandoc -T ascii | col -bx | tr -s ' \n' ' ' > page
        "$OIF" $command --help-all | awk '/^Parameters/ { exit } /^Usage/ { is_begun = 1 }
            is_begun && /^ {25}/ && !/; default / { print $NF }' | sort -u > words
        while read -r word; do
            grep -qiF -- "$word" page || { echo "oif-${command// /-}.1 lacks: $word" >&2; return 1; }
        done < words
    done
    contains "$("$OIF" manual score)" "episode_id, counted per key; why"
}

@test "--memory-limit says what the program does without it, which is not what the library does" {
    for command in score eval "state size"; do
        contains "$("$OIF" $command --help-all | tr -s ' \n' ' ')" "0: half of this machine's memory"
    done
}
