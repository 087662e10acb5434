# Credits of reliable datagrams, and receives that all peers share. More messages than a peer has receives for: without
# credit they would stop, and a card that finds no receive counts it.

not_ready() {
    cat /sys/class/infiniband/rxe*/ports/1/hw_counters/rcvd_rnr_err | awk '{ sum += $1 } END { print sum }'
}

# with_credits SERVER CLIENT MODE
with_credits() {
    local before after status
    before=$(not_ready)
    FI_OFI_RXM_USE_SRX=0 ITERATIONS=400 both "$1" "$2" 64 -p 'verbs;ofi_rxm' -e rdm -m "$3" -S 64
    status=$?
    after=$(not_ready)
    echo "messages that found no receive: $before before, $after after"
    [ $status -eq 0 ] && [ -n "$before" ] && [ "$before" = "$after" ]
}

# with_shared USE_SRX SERVER CLIENT LAST OPTIONS...: receives shared by us, and by the program of C if USE_SRX is 1
with_shared() {
    local srx=$1 status
    shift
    java_options+=(-Djfabric.verbs.sharedReceives=64)
    FI_OFI_RXM_USE_SRX=$srx both "$@"
    status=$?
    unset 'java_options[-1]'
    return $status
}

check "flow control, msg: credits, our server" with_credits ours theirs msg
smoke check "flow control, msg: credits, our client" with_credits theirs ours msg
check "flow control, tagged: credits, our server" with_credits ours theirs tagged
check "flow control, tagged: credits, our client" with_credits theirs ours tagged
smoke check "flow control: shared receives, our server" with_shared 0 ours theirs 1m -p 'verbs;ofi_rxm' -e rdm -m tagged
check "flow control: shared receives, our client" with_shared 0 theirs ours 1m -p 'verbs;ofi_rxm' -e rdm -m msg
check "flow control: shared receives on both sides" with_shared 1 ours theirs 1m -p 'verbs;ofi_rxm' -e rdm -m tagged
