# Bad input: each case is refused with its place, what is wrong, and exit code 1; the rows before it are kept.

load helper

# after_good_row ROW MESSAGE: the header and the good row are scored, then the bad one is refused.
after_good_row() {
    printf 'a,b\n1,2\n%s\n' "$1" > in.csv
    oif score in.csv
    equal "$status" 1
    equal "${lines[0]}" "a,b,score,severity,anomaly"
    contains "${lines[1]}" "1,2,"
    equal "${#lines[@]}" 2
    contains "$stderr" "$2"
}

@test "an empty input is an error" {
    : > empty.csv
    oif score empty.csv
    exits 1 "oif: empty.csv: the input is empty"
    oif score < empty.csv
    exits 1 "oif: <stdin>: the input is empty"
    oif eval --label y empty.csv
    exits 1 "oif: empty.csv: the input is empty"
}

@test "a header without rows is scored to a header without rows" {
    echo 'a,b' > in.csv
    oif score in.csv
    exits 0
    equal "$output" "a,b,score,severity,anomaly"
}

@test "a header without rows has nothing to evaluate" {
    echo 'a,b' > in.csv
    oif eval --label b in.csv
    exits 1 "oif: in.csv: there is a header but no rows"
}

@test "a row with a field too few is refused where it ends" {
    after_good_row "3" "oif: in.csv:3:2: this row has 1 field"
}

@test "a row with a field too many is refused where that field starts" {
    after_good_row "3,4,5" "oif: in.csv:3:5: this row has 3 fields"
}

@test "text in a number field is refused where it stands" {
    after_good_row "3,high" "oif: in.csv:3:3: 'high' is not a number"
}

@test "an infinity is refused where it stands" {
    after_good_row "inf,4" "oif: in.csv:3:1: 'inf' is infinite"
}

@test "rows that another option reads say which" {
    after_good_row "inf,4" "; make it a finite number or empty (--on-bad-row null)"
    after_good_row "3" "the first line has 2; --on-bad-row skip leaves such rows out"
}

@test "a quote that is never closed is refused where it opens" {
    after_good_row '3,"4' "oif: in.csv:3:3: "
}

@test "the good rows stand before the complaint when both go to one place" {
    printf 'a\n1\nx\n' > in.csv
    run bash -c "'$OIF' score in.csv 2>&1"
    equal "${lines[0]}" "a,score,severity,anomaly"
    contains "${lines[2]}" "oif: in.csv:3:1: "
}

@test "stdin is called <stdin> in a complaint" {
    printf 'a\n1\nx\n' > in.csv
    oif score --csv header=yes < in.csv
    contains "$stderr" "oif: <stdin>:3:1: "
}

@test "a missing file is told by its name" {
    oif score nowhere.csv
    exits 1 "oif: nowhere.csv: No such file or directory"
}

@test "a directory is told by its name" {
    mkdir folder
    oif score folder
    exits 1 "oif: folder: Is a directory; to read the files in it, give 'folder/*'"
}

@test "a file that may not be read is told by its name" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    echo 1 > secret.csv
    chmod 000 secret.csv
    oif score secret.csv
    exits 1 "oif: secret.csv: Permission denied"
}

@test "a missing label is refused where it stands" {
    printf 'a,y,b\n1,0,2\n"1",,2\n' > in.csv
    oif eval --label y in.csv
    exits 1 "oif: in.csv:3:5: the label is missing; give 0 for a normal row, 1 for an anomaly, or say with --anomaly VALUE which rows are anomalies"
}

@test "a column that does not exist is told with the closest one" {
    printf 'flow,fault\n1,0\n' > in.csv
    oif score --label falt in.csv
    exits 2 "oif: in.csv: --label: there is no column 'falt'; did you mean fault? (there are flow, fault)"
    oif score --exclude flow,nothing in.csv
    exits 2 "oif: in.csv: --exclude: there is no column 'nothing' (there are flow, fault)"
}

@test "without a header the complaint says what columns are called" {
    printf '1,2\n' > in.csv
    oif score --label fault in.csv
    exits 2 "oif: in.csv: --label: there is no column 'fault' (no header: there are x0, x1)"
}

@test "a column name that stands twice cannot be chosen" {
    printf 'a,y,y\n1,0,1\n' > in.csv
    oif eval --label y in.csv
    exits 2 "oif: in.csv: 2 columns are called 'y'; give each its own name"
}

@test "a file with nothing but the label has nothing to learn" {
    printf 'y\n1\n' > in.csv
    oif score --label y in.csv
    exits 2 "oif: in.csv: no column is left to learn from; name others with --columns, or exclude fewer"
}

@test "a column of text is found by any name: long ones, and ones with control characters" {
    long=the_name_of_this_column_is_longer_than_what_a_message_shows_of_it
    printf 'a,%s\n1,2\n3,4\n5,x\n' $long > in.csv
    oif score in.csv
    equal "$status" 1
    contains "$stderr" "(--exclude $long)"
    { printf 'a,"b\001"\n'; for ((i = 0; i < 1500; i++)); do echo "$((i % 7)),"; done; echo "5,x"; echo 6,7; } > in.csv
    oif score in.csv
    equal "$status" 0
    contains "$stderr" "in.csv:1502: text in 'b\\u0001', which was empty in the first rows"
}

@test "a long name in a message is cut between characters" {
    local long=x shown=x i
    for ((i = 0; i < 40; i++)); do long+=é; done
    for ((i = 0; i < 29; i++)); do shown+=é; done # 59 bytes
    awk -v name="$long" 'BEGIN { print name ",v"; for (i = 0; i < 50; i++) print 1794769500 + 15 * i "," i % 7 }' > time.csv
    oif score --time "$long" --state time.state time.csv
    equal "$status" 0
    sed "1s/.*/$long$long,v/" time.csv > other.csv
    oif score --time "$long$long" --state time.state other.csv
    contains "$stderr" "until now the time was in '$shown'; from now on it is in '$shown' (--time)"
    (echo "a,$long"; seq 1500 | sed 's/.*/&,/'; echo 1,late) > late.csv
    oif score --columns a late.csv
    oif score --exclude a late.csv
    contains "$stderr" "text in '$shown', which was empty"
    oif score --key "$long,,v" time.csv
    exits 2 "oif: --key: '$shown' contains an empty name; separate names by single commas"
    (echo "a,$long"; seq 50 | sed 's/.*/&,normal/') > label.csv
    oif eval --label "$long" --anomaly "$long" label.csv
    contains "$stderr" "no row has the label '$shown' of --anomaly; '$shown' has normal (50 rows)"
    oif score --detector "$long" time.csv
    printf '%s' "$stderr" | iconv -f UTF-8 -t UTF-8
}
