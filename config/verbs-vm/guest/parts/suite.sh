# The conformance suite over reliable datagrams of a device that reaches itself. Drivers are embedded: with processes for
# them each test would take many seconds here; the ping-pong has daemons. What allocates nothing is a matter of the second
# compiler, which does not run here.

# suite LEAST LINK OPTIONS...: on a third device, whose address is reached as usual; only for the suite. The endpoints
# of link best have those of the device and of tcp.
suite() {
    local status least=$1 link=$2
    shift 2
    ip link add eth2 mtu 4200 type veth peer eth3 mtu 4200 && ip addr add 10.1.0.1/24 dev eth2 &&
        ip link set eth2 up && ip link set eth3 up && rdma link add rxe2 type rxe netdev eth2 || return 1
    # the entry with the IPv4 address comes a moment after the device
    for _ in $(seq 500); do
        grep -qs '0000:0000:0000:0000:0000:ffff:' /sys/class/infiniband/rxe2/ports/1/gids/* && break
        sleep 0.02
    done
    junit "$least" "-Djfabric.test.link=$link -Djfabric.test.interface=10.1.0.1 -Djfabric.test.mode=embedded \
        -Djfabric.test.device=true" --include-tag=link "$@"
    status=$?
    rdma link del rxe2
    ip link del eth2
    return $status
}

conformance=org.jfabric.driver.conformance
check "suite: conformance, reliable datagrams" suite 300 verbsrxm --exclude-classname='.*AllocationTest' \
    --select-package=$conformance
# what the last one has as well: messages short and long, injected, in order, and remote memory
[ -z "$SMOKE" ] || smoke check "suite: some classes, reliable datagrams" suite 32 verbsrxm \
    $(printf -- "--select-class=$conformance.%s " tagged.TaggedMessageTest tagged.LargeMessageTest tagged.InjectTest \
        transmit.MessageOrderTest memory.RemoteMemoryTest memory.RemoteOrderTest)
# By which link a peer is reached is among the tests of the first class.
check "suite: best, by the device" suite 10 best $(printf -- "--select-class=$conformance.%s " \
    other.PathTest tagged.TaggedMessageTest tagged.LargeMessageTest)
# what the last one has as well, and messages of all lengths
[ -z "$SMOKE" ] || smoke check "suite: best, by the device, shorter" suite 2 best \
    $(printf -- "--select-method=$conformance.%s(org.jfabric.driver.kit.Setup) " \
        other.PathTest#shouldNameLinkAddressesAndState \
        transmit.MessageOrderTest#shouldMatchMessagesOfAllLengthsInTheOrderOfSending)
