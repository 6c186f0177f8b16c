#!/usr/bin/env bash
# Builds programs that send metrics, for tools/test/long.sh senders, into build/senders, from their Go modules. Prints what cannot be had,
# with the reason; its tests are then skipped.
#
#   tools/test/get_senders.sh             all
#   tools/test/get_senders.sh telegraf    one of them, with everything that Go prints
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
mkdir -p build/senders

build_telegraf() {
    local version=v1.37.2 tags=custom,inputs.file,parsers.influx,outputs.influxdb,outputs.influxdb_v2,outputs.http module
    tags+=,serializers.influx,serializers.json,serializers.prometheusremotewrite
    module=$(go mod download -json "github.com/influxdata/telegraf@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    [ -n "$module" ] || return
    rm -rf build/senders/source
    cp -r "$module" build/senders/source && chmod -R u+w build/senders/source && cd build/senders/source &&
        go build -mod=mod -tags "$tags" -o ../telegraf ./cmd/telegraf
}

build_collector() {
    local version=v0.150.0 at=go.opentelemetry.io/collector
    rm -rf build/senders/source
    mkdir build/senders/source && cp tests/serve/collector.go build/senders/source/main.go && cd build/senders/source &&
        go mod init collector &&
        go get "$at/otelcol@$version" "$at/service@$version" "$at/receiver/otlpreceiver@$version" "$at/exporter/otlphttpexporter@$version" &&
        go mod tidy && go build -o ../collector .
}

get() { # get PROGRAM: in at most 20 minutes
    local log=build/senders/$1.log
    [ -x "build/senders/$1" ] && return
    if ! command -v go >/dev/null; then
        echo "no $1: Go is not installed"
    elif ! timeout 20m tools/test/get_senders.sh "$1" >"$log" 2>&1; then
        echo "no $1: it cannot be built; the end of $log: $(tail -n 1 "$log")"
    fi
}

case ${1:-} in
telegraf) build_telegraf ;;
collector) build_collector ;;
*)
    get telegraf
    get collector
    ;;
esac
