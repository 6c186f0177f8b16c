#!/usr/bin/env bash
# Compiles the programs in benchmarks/*.java with AWS's Random Cut Forest into build/aws-forest.
#
# tools/requirements/maven-peers.txt pins its version. If Java is missing or a jar cannot be fetched, the reason is
# in build/aws-forest/failed, the tables show it, and everything else still runs.
set -euo pipefail

cd "$(dirname "$0")/../.."
folder=build/aws-forest
list=tools/requirements/maven-peers.txt
programs=(benchmarks/RandomCutForestScores.java benchmarks/ThresholdedForestScores.java)
wanted=$(cksum "$list" "${programs[@]}")
[ "$wanted" = "$(cat "$folder/made" 2>/dev/null)" ] && exit 0

make_forest() {
    tools/build/install_dependencies.sh java
    local artifact
    while read -r artifact; do
        java/mvn -q -N org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
            "-Dartifact=$artifact" "-DoutputDirectory=$PWD/$folder" </dev/null
    done < <(grep -v '^#' "$list")
    javac -Xlint:all -Werror -cp "$folder/*" -d "$folder" "${programs[@]}"
}

rm -rf "$folder"
mkdir -p "$folder"
if (make_forest) >"$folder/failed" 2>&1; then
    rm "$folder/failed"
    echo "$wanted" >"$folder/made"
else
    echo "AWS's Random Cut Forest cannot be compiled; $folder/failed has the reason"
fi
