# The command line: help, versions, and what is said about mistakes.

load helper

@test "--version prints the name and the version" {
    oif --version
    exits 0
    [[ "$output" =~ ^oif\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "--help starts with examples and lists the commands" {
    oif --help
    exits 0
    equal "${lines[1]}" "Examples:"
    for command in score eval demo; do
        contains "$output" "oif $command"
    done
}

@test "each command's --help-all has examples, its options and the detector's parameters with their ranges" {
    for command in score eval; do
        oif "$command" --help-all
        exits 0
        equal "${lines[1]}" "Examples:"
        contains "$output" "Usage: oif $command"
        contains "$output" "--num-trees N"
        contains "$output" "default 32"
        contains "$output" "path | none | row; default row"
    done
}

@test "oif help is oif --help, and with a command that command's --help" {
    oif help
    exits 0
    equal "$output" "$("$OIF" --help)"
    for command in score state demo; do
        oif help "$command"
        exits 0
        equal "$output" "$("$OIF" "$command" --help)"
    done
    oif help scroe
    exits 2 "oif: unknown command 'scroe'; did you mean score? ('oif --help' lists all)"
    oif help score state
    exits 2 "oif: unexpected argument 'state' (usage: oif help [COMMAND])"
}

@test "--help wins over what follows it" {
    oif score --help --nonsense
    exits 0
}

@test "no command is a usage error" {
    oif
    exits 2 "oif: no command given; 'oif --help' lists them, 'oif demo' is a demonstration"
}

@test "an unknown command is told with the closest one" {
    oif scroe
    exits 2 "oif: unknown command 'scroe'; did you mean score? ('oif --help' lists all)"
    oif --verson
    exits 2 "oif: unknown command '--verson'; did you mean --version? ('oif --help' lists all)"
    oif z
    exits 2 "oif: unknown command 'z' ('oif --help' lists all)"
}

@test "an unknown option is told with the closest one" {
    oif score --lable y
    exits 2 "oif: unknown option '--lable'; did you mean --label? ('oif score --help-all' lists all)"
    oif score --num-tree=3
    exits 2 "oif: unknown option '--num-tree=3'; did you mean --num-trees? ('oif score --help-all' lists all)"
    oif score -x
    exits 2 "oif: unknown option '-x' ('oif score --help-all' lists all)"
}

@test "an option of one command is not an option of another" {
    oif score --json
    equal "$status" 2
    contains "$stderr" "unknown option '--json'"
}

@test "an option without its value is a usage error" {
    oif score --label
    exits 2 "oif: --label needs a value ('oif score --help-all' says which)"
    oif score --num-trees
    exits 2 "oif: --num-trees needs a value ('oif score --help-all' says which)"
}

@test "a switch takes no value" {
    oif score --strict=yes
    exits 2 "oif: --strict takes no value"
}

@test "a parameter out of its range is a usage error that says the range" {
    oif score --num-trees 0
    equal "$status" 2
    contains "$stderr" "oif: --num-trees 0: num_trees must be a whole number from 1 to"
    oif score --num-trees many
    equal "$status" 2
    oif score --detector online-iforest --variant quick
    equal "$status" 2
    contains "$stderr" "running, paper, reference"
}

@test "an unknown detector is a usage error, wherever the flag stands" {
    oif score --num-trees 3 --detector online-ifores
    exits 2 "oif: --detector: there is no detector 'online-ifores'; did you mean online-iforest?"
    oif score --detector=zzz
    exits 2 "oif: --detector: there is no detector 'zzz'; choose one of: rolling-iforest, online-iforest, iforest-asd, hst, rrcf, loda, sdo"
}

@test "every detector is named in the help, and scores a stream" {
    printf 'a,b\n1,2\n2,1\n1,1\n' > rows.csv
    equal "$(detector_names | wc -l)" 7
    help=$("$OIF" score --help-all | tr -s ' \n' ' ')
    for name in $(detector_names); do
        contains "${help#*that scores the rows}" "$name"
        oif score --detector "$name" rows.csv
        exits 0
        equal "$(wc -l <<< "$output")" 4
    done
}

@test "a delimiter must be one character that no number is made of" {
    oif score --csv sep=ab
    exits 2 "oif: --csv: expected words such as 'sep=; skip=3 decimal=, comment=# header=no', with sep=tab or sep=space for blanks, not 'sep=ab'"
    printf 'a\n1\n' > in.csv
    oif score --csv 'sep=1' in.csv
    equal "$status" 2
}

@test "a second file is a usage error where one is read" {
    oif state inspect a.oif b.oif
    exits 2 "oif: unexpected argument 'b.oif' (usage: oif state inspect [OPTION...] FILE|-)"
}

@test "help that cannot be written is a failure" {
    run --separate-stderr bash -c "'$OIF' --help > /dev/full"
    exits 1 "oif: cannot write the output: No space left on device"
}

@test "a parameter of another detector is refused with the detector that has it" {
    oif score --detector loda --max-depth 3
    exits 2 "oif: --max-depth is not an option of the detector loda; leave it out, or use --detector rolling-iforest"
}

@test "files and folders that cannot be used are refused with a remedy" {
    mkdir folder
    oif score folder
    exits 1 "oif: folder: Is a directory; to read the files in it, give 'folder/*'"
    oif score --state none/s folder
    exits 1 "oif: cannot open the folder of 'none/s': No such file or directory; create the folder, or name another file"
    awk 'BEGIN { print "at,x"; for (i = 0; i < 100; i++) print 1794769500 - i "," i % 7 }' > in.csv
    oif score --time at in.csv
    exits 0 "oif: in.csv: times in 'at': 99 go back; sort the rows, oldest first, or name another column with --time"
}
