# The conformance suite over reliable datagrams of the device rxe2, which reaches itself: embedded drivers and daemons.

# Says on the console how far it is, for those who wait, or look for what it hangs at.
progress() {
    while sleep 30; do
        echo "<2>suite: $(grep -c ' :: ' /tmp/suite.log) steps, $(tail -n 1 /tmp/suite.log | cut -c1-160)" > /dev/kmsg
    done
}

suite() {
    local target status watcher
    target=$(dirname "$jar")
    progress &
    watcher=$!
    java -XX:+UseSerialGC -ea -Xmx1g --add-opens java.base/jdk.internal.misc=ALL-UNNAMED \
        --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
        -Djfabric.test.link=verbsrxm -Djfabric.test.interface=10.1.0.1 \
        -cp "$target/test-classes:$target/classes:$target/suite/*" org.junit.platform.console.ConsoleLauncher execute \
        --disable-banner --disable-ansi-colors --details=testfeed --include-tag=link \
        --select-package org.jfabric.driver.conformance "$@" > /tmp/suite.log 2>&1
    status=$?
    kill $watcher
    # what failed, with its reasons, and the numbers
    sed -n '/^Failures (/,$p' /tmp/suite.log
    grep -E 'tests (successful|failed|skipped|aborted)' /tmp/suite.log > /tmp/figures
    return $status
}

check "suite: conformance, reliable datagrams" suite
