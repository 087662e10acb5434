# The conformance suite over reliable datagrams of the device rxe2, which reaches itself: embedded drivers and daemons.

suite() {
    local target status
    target=$(dirname "$jar")
    java -XX:+UseSerialGC -ea -Xmx1g --add-opens java.base/jdk.internal.misc=ALL-UNNAMED \
        --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
        -Djfabric.test.link=verbsrxm -Djfabric.test.interface=10.1.0.1 \
        -cp "$target/test-classes:$target/classes:$target/suite/*" org.junit.platform.console.ConsoleLauncher execute \
        --disable-banner --disable-ansi-colors --details=testfeed --include-tag=link \
        --select-package org.jfabric.driver.conformance "$@" > /tmp/suite.log 2>&1
    status=$?
    # what failed, with its reasons, and the numbers
    sed -n '/^Failures (/,$p' /tmp/suite.log
    grep -E 'tests (successful|failed|skipped|aborted)' /tmp/suite.log > /tmp/figures
    return $status
}

check "suite: conformance, reliable datagrams" suite
