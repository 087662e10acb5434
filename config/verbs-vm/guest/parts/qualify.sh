# Both sides of ./fabric qualify, each on a device of its own. Conformance is left out: these devices do not reach
# themselves; so are the times of perftest, which is not in the image, and pairs that other parts have.

# qualify STEPS LEAST: those whose names have the pattern in them; at least LEAST pass and none is skipped
qualify() {
    local options status pid
    options=$(dirname "$jar")/tests.options
    java @"$options" org.jfabric.driver.qualify.QualifyMain --serve --peer 10.0.0.2 --device rxe0 \
        > /tmp/server.log 2>&1 &
    pid=$!
    for _ in $(seq 1000); do
        grep -q 'waits for the other host' /tmp/server.log || ! kill -0 $pid 2> /dev/null && break
        sleep 0.1
    done
    timeout -k 5 900 java @"$options" org.jfabric.driver.qualify.QualifyMain --peer 10.0.0.1 --device rxe1 --quick \
        --only "$1" --report /tmp/report.md
    status=$?
    [ $status -eq 0 ] || kill $pid 2> /dev/null
    wait $pid || status=1
    echo "server:"
    cat /tmp/server.log
    sed -n 3p /tmp/report.md > /tmp/figures
    grep -q ' 0 failed, 0 skipped' /tmp/report.md && ! grep -qF 10.0.0. /tmp/report.md || status=1
    [ "$(grep -c '| passed |' /tmp/report.md)" -ge "$2" ] || status=1
    return $status
}

check "qualify: two devices" qualify 'discovery|contents.*C to ours|times, verbs msg|rates|killed' 10
