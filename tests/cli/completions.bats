# What is made from the tables of options: completions and manual pages.

load helper

# Completes "$@", the cursor after the last word, and prints what bash would offer; "(files)" where it offers files.
complete_in_bash() {
    "$OIF" completions bash > oif.bash
    bash --norc -c '
        compopt() { echo "(files)"; }
        source ./oif.bash
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _oif
        printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# Every --flag of a command's --help-all, for each detector.
flags_in_help() {
    for detector in $(detector_names); do
        case $1 in
        score | eval | state-size) "$OIF" ${1/-/ } --help-all --detector "$detector" ;;
        *) "$OIF" ${1/-/ } --help-all ;;
        esac
    done | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort -u
}

commands=(score eval serve state state-inspect state-feedback state-size demo)

# Those that are the first word after oif.
one_word=(score eval serve state demo)

# The commands that `oif --help` lists, and help itself.
commands_in_help() {
    "$OIF" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p' | uniq
    echo help
}

# Writes try.zsh, which completes its arguments, the cursor after the last. $1: what it does with the list of commands.
# _arguments is replaced: it needs a terminal, and what it is given is what counts.
write_try_zsh() {
    "$OIF" completions zsh > _oif
    cat > try.zsh <<ZSH
_describe() { $1 }
compadd() { : }
_arguments() { print -rl -- "\$@" }
words=(oif "\$@")
CURRENT=\$#words
source ./_oif
ZSH
}

@test "every shell offers all commands that --help lists, and help with each of them" {
    equal "$(complete_in_bash oif '' | sort)" "$( (commands_in_help; printf '%s\n' --help --version) | sort)"
    equal "$(complete_in_bash oif help '')" "$(printf '%s\n' "${one_word[@]}")"
    equal "$(complete_in_bash oif help de)" demo
    # shellcheck disable=SC2016 # for zsh
    write_try_zsh 'print -rl -- "${(@)commands%%:*}"'
    equal "$(zsh -f try.zsh '')" "$(commands_in_help)"
    equal "$(zsh -f try.zsh help '')" "1:command:(${one_word[*]})"
    "$OIF" completions fish > oif.fish
    export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
    offered() { fish --no-config -c "source oif.fish; complete -C '$1'" | cut -f 1; }
    equal "$(offered 'oif ' | sort)" "$(commands_in_help | sort)"
    equal "$(offered 'oif help ' | sort)" "$(printf '%s\n' "${one_word[@]}" | sort)"
}

@test "bash completes commands, options, their words and files" {
    equal "$(complete_in_bash oif dem)" demo
    equal "$(complete_in_bash oif --ver)" --version
    equal "$(complete_in_bash oif score --lab)" --label
    equal "$(complete_in_bash oif score --detector o)" online-iforest
    equal "$(complete_in_bash oif eval --detector = ls)" ""
    equal "$(complete_in_bash oif eval --detector = lo)" loda
    equal "$(complete_in_bash oif eval --variant =)" "$(printf 'running\npaper\nreference')"
    equal "$(complete_in_bash oif score --on-bad-row '')" "$(printf 'fail\nskip\nnull')"
    equal "$(complete_in_bash oif score --evicted ke)" keep
    equal "$(complete_in_bash oif score --format = sy)" sysstat
    equal "$(complete_in_bash oif score --save-every '')" ""
    equal "$(complete_in_bash oif demo se)" seasonal
    equal "$(complete_in_bash oif score '' | head -n 1)" "(files)"
    equal "$(complete_in_bash oif score --state '' | head -n 1)" "(files)"
    equal "$(complete_in_bash oif score --label '')" ""
    equal "$(complete_in_bash oif demo s)" seasonal
}

@test "bash knows every option that --help-all lists, and no other" {
    for command in "${commands[@]}"; do
        equal "$command $(complete_in_bash oif ${command/-/ } -- | sort)" "$command $(flags_in_help "$command")"
    done
}

@test "zsh loads its completion and finds the options" {
    # shellcheck disable=SC2016 # for zsh
    write_try_zsh 'print -r -- "describe $2"'
    equal "$(zsh -f try.zsh s)" "describe commands"
    for command in "${commands[@]}"; do
        equal "$command $(zsh -f try.zsh ${command/-/ } -- | sed -n 's/^\(--[a-z-]*\)=*\[.*/\1/p' | sort)" \
            "$command $(flags_in_help "$command")"
    done
    contains "$(zsh -f try.zsh demo '')" "1:kind:(pump seasonal)"
    contains "$(zsh -f try.zsh score '')" ":NAME:(rolling-iforest "
    contains "$(zsh -f try.zsh score '')" "]::"
}

@test "fish completes commands, options and their words" {
    "$OIF" completions fish > oif.fish
    export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
    offered() { fish --no-config -c "source oif.fish; complete -C '$1'" | cut -f 1; }
    equal "$(offered 'oif dem')" demo
    equal "$(offered 'oif score --detector o')" online-iforest
    equal "$(offered 'oif demo s')" seasonal
    for command in "${commands[@]}"; do
        [[ $command != state-* ]] || continue # fish offers those of state as well
        equal "$command $(offered "oif $command --" | sed 's/=$//' | sort)" "$command $(flags_in_help "$command")"
    done
}

make_pages() {
    mkdir -p pages/man1
    "$OIF" manual > pages/man1/oif.1
    for command in "${commands[@]}"; do
        "$OIF" manual "$command" > "pages/man1/oif-$command.1"
    done
}

@test "mandoc finds nothing to complain about in the manual pages" {
    make_pages
    cd pages/man1 # where it looks for the pages that others refer to
    run mandoc -T lint ./*.1
    equal "$output" ""
    equal "$status" 0
}

@test "manual pages have all options, parameters, commands and examples" {
    make_pages
    for command in "${commands[@]}"; do
        mandoc -T ascii -O width=200 "pages/man1/oif-$command.1" pages/man1/oif-score.1 | col -bx > shown
        for flag in $(flags_in_help "$command"); do
            grep -q -e "^ *$flag\b" shown || { echo "oif-$command.1 has no $flag" >&2; return 1; }
        done
        "$OIF" ${command/-/ } --help-all | sed -n '/^Examples:/,/^$/s/^  //p' > examples
        while read -r example; do
            grep -qF -e "$example" shown || { echo "oif-$command.1 lacks: $example" >&2; return 1; }
        done < examples
        contains "$(mandoc -T ascii pages/man1/oif.1 | col -bx)" "oif-$command(1)"
    done
}

@test "completions and pages are only for what exists" {
    oif completions tcsh
    exits 2 "oif: completions are for bash, zsh or fish (usage: oif completions SHELL)"
    oif completions
    exits 2 "oif: completions are for bash, zsh or fish (usage: oif completions SHELL)"
    oif manual scores
    exits 2 "oif: there is no command 'scores'; 'oif --help' lists all"
}

@test "what is meant for installing is not listed among the commands" {
    oif --help
    exits 0
    equal "$(grep -cE '^  (completions|manual) ' <<< "$output")" 0
    equal "$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p' <<< "$output" | uniq | tr '\n' ' ')" "${one_word[*]} "
}
