# Datagrams of queue pairs: ourselves, the program of C with the GID of each kind, and multicast groups.

# datagrams SERVER CLIENT OPTIONS...: each side on a device of its own, by the GIDs that GIDS names: of IPv4, or the
# first of the table, which is the link-local one.
datagrams() {
    local server=$1 client=$2 status=0 pid here=10.0.0.1 there=10.0.0.2
    shift 2
    set -- -p verbs -e dgram -c -I $ITERATIONS "$@"
    export FI_VERBS_GID_IDX=1
    if [ "$GIDS" = link-local ]; then
        export FI_VERBS_GID_IDX=0
        here=fe80::ff:fe00:1
        there=fe80::ff:fe00:2
    fi
    if [ "$server" = ours ]; then
        fabric fi-pingpong "$@" -v --timeout 60 --bind $here > /tmp/server.log 2>&1 &
        pid=$!
        await_server "$client" $pid
    else
        timeout 120 fi_pingpong "$@" -d rxe0-dgram > /tmp/server.log 2>&1 &
        pid=$!
        sleep 1
    fi
    if [ "$client" = ours ]; then
        fabric fi-pingpong "$@" -v --timeout 60 --bind $there 10.0.0.1 || status=1
    else
        timeout 120 fi_pingpong "$@" -d rxe1-dgram 10.0.0.1 || status=1
    fi
    wait $pid || status=1
    echo "server:"
    cat /tmp/server.log
    grep -q "^4k " /tmp/server.log || status=1
    return $status
}

GIDS=IPv4
check "UD, $GIDS: ours with ours" datagrams ours ours
smoke check "UD, $GIDS: our server, fi_pingpong as client" datagrams ours theirs
check "UD, $GIDS: fi_pingpong as server, our client" datagrams theirs ours
GIDS=link-local
check "UD, $GIDS: our server, fi_pingpong as client" datagrams ours theirs
smoke check "UD, $GIDS: fi_pingpong as server, our client" datagrams theirs ours

# Endpoints of two drivers, and groups with mckey of rdmacm-utils as the other member, by the tests of the project.
check "UD: endpoints and multicast groups" junit 4 -Djfabric.test.ud.hosts=10.0.0.1,10.0.0.2 \
    --select-class=org.jfabric.driver.conformance.other.QueuePairDatagramTest
