# oif serve is a program of its own, which oif finds and becomes.

load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p bin libexec/oif
    cp "$OIF" bin/oif
}

@test "serve: without the server's program it says what to install" {
    run bin/oif serve
    [ "$status" -eq 1 ]
    [[ $output == *"apt-get install libmicrohttpd-dev"* ]]
}

@test "serve: options are explained and checked without it" {
    run bin/oif serve --help
    [ "$status" -eq 0 ]
    [[ $output == *--token-file* ]]
    run bin/oif serve --max-streams 0
    [ "$status" -eq 2 ]
}

@test "serve: the installed server gets the arguments as they are" {
    printf '#!/bin/sh\nfor i; do echo "[$i]"; done\n' >libexec/oif/oif-serve
    chmod +x libexec/oif/oif-serve
    run bin/oif serve --data "a b" --listen 127.0.0.1:0
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '[serve]\n[--data]\n[a b]\n[--listen]\n[127.0.0.1:0]')" ]
}

@test "serve: oif itself needs none of the server's libraries" {
    command -v ldd >/dev/null || skip
    run ldd bin/oif
    [[ $output != *microhttpd* && $output != *curl* && $output != *jansson* ]]
}
