# The conformance suite over reliable datagrams of the device rxe2, which reaches itself. Drivers are embedded: with
# processes for them each test would take many seconds here; the ping-pong has daemons. What allocates nothing is a matter
# of the second compiler, which does not run here.

check "suite: conformance, reliable datagrams" junit \
    "-Djfabric.test.link=verbsrxm -Djfabric.test.interface=10.1.0.1 -Djfabric.test.mode=embedded" \
    --include-tag=link --exclude-classname='.*AllocationTest' --select-package=org.jfabric.driver.conformance
