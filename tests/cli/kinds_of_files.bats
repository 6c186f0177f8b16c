# Kinds of files as they lie around: each gives a useful result, or a line that says what to do.

load helper

@test "files of all kinds are read as a newcomer types it" {
    python3 "$BATS_TEST_DIRNAME/kinds_of_files.py" "$TOOL"
}
