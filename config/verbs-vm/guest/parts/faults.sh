# A side that is killed, and a network that loses packets and holds them up.

# The process of the server that runs.
server_pid() {
    pgrep -f -- "^java .*fi-pingpong.*--bind 10.0.0.1$" | head -n 1
}

packets() {
    cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
}

# killed REASON SECONDS OPTIONS...: the client, in the middle of many messages, has to end by itself and say why. That
# both devices are as good as before is what the checks after it show.
killed() {
    local server client status before reason=$1 timeout=$2
    shift 2
    before=$(packets)
    fabric fi-pingpong "$@" -S 64 -I 1000000 --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
    server=$!
    await_server ours $server
    fabric fi-pingpong "$@" -S 64 -I 1000000 --timeout $timeout --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1 &
    client=$!
    # until messages go to and fro, many more than can be exchanged in that time
    for _ in $(seq 300); do
        [ $(($(packets) - before)) -lt 500 ] || break
        sleep 0.2
    done
    kill -9 "$(server_pid)"
    wait $server
    wait $client
    status=$?
    echo "client, ended with $status:"
    cat /tmp/client.log
    [ $status -eq 1 ] && grep -qE "$reason" /tmp/client.log && ! grep -q 'after 0 messages' /tmp/client.log
}

# the kernel ends the connections of a process that is gone in an orderly way, so that receives are cancelled
smoke check "faults: the server of MSG is killed" killed "FI_ECANCELED|FI_ECONNRESET" 120 -p verbs -e msg
# a receive of datagrams waits for anybody, so it waits as long as it was told to
check "faults: the server of rxm is killed" killed "No message came|FI_ECONNRESET" 12 -p 'verbs;ofi_rxm' -e rdm

# The client's device goes in the middle of many messages. The kernel waits until the client has let go of it, which has
# to be while it still runs: a receive of datagrams waits for anybody, as above, and so as long as it was told to. A
# client that was sending at that moment is told so and ends at once.
removed() {
    local server client status removal before waits=no
    before=$(packets)
    fabric fi-pingpong "$@" -S 64 -I 1000000 --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
    server=$!
    await_server ours $server
    fabric fi-pingpong "$@" -S 64 -I 1000000 --timeout 12 --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1 &
    client=$!
    for _ in $(seq 300); do
        [ $(($(packets) - before)) -lt 500 ] || break
        sleep 0.2
    done
    timeout 60 rdma link del rxe1
    removal=$?
    grep -qE "No message came|FI_" /tmp/client.log || waits=yes
    wait $client
    status=$?
    kill -9 "$(server_pid)"
    wait $server
    rdma link add rxe1 type rxe netdev eth1
    # the entry with the IPv4 address comes a moment after the device
    for _ in $(seq 500); do
        grep -qs '0000:0000:0000:0000:0000:ffff:' /sys/class/infiniband/rxe1/ports/1/gids/* && break
        sleep 0.02
    done
    echo "client, ended with $status, removal with $removal, client waiting then: $waits:"
    cat /tmp/client.log
    [ $status -eq 1 ] && [ $removal -eq 0 ] && ! grep -q 'after 0 messages' /tmp/client.log &&
        { grep -q 'A transfer failed with FI_ENODEV' /tmp/client.log ||
            { [ $waits = yes ] && grep -q 'No message came' /tmp/client.log; }; }
}

smoke check "faults: the device of the client is taken away" removed -p 'verbs;ofi_rxm' -e rdm

# lossy PLAN COMMAND...: while each packet between the two devices may meet what netem is told; some have to be lost.
lossy() {
    local plan=$1 status=1 lost
    shift
    if tc qdisc add dev eth0 root netem $plan && tc qdisc add dev eth1 root netem $plan; then
        "$@"
        status=$?
        lost=$({ tc -s qdisc show dev eth0; tc -s qdisc show dev eth1; } |
            sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
        echo "packets lost: $lost"
        [ "$lost" -gt 0 ] || status=1
    fi
    tc qdisc del dev eth0 root
    tc qdisc del dev eth1 root
    return $status
}

# messages TIMES COMMAND...: as many of each size.
messages() {
    local ITERATIONS=$1
    shift
    "$@"
}

# The delay varies, so that packets also come out of order. Of messages that are one packet each: with longer ones the
# device of software does not get on then, with the program of C on both sides as well.
check "faults: MSG, packets are lost and late" lossy "loss 2% delay 1ms 500us" \
    messages 100 both ours theirs 4k -p verbs -e msg -S 4096
check "faults: rxm, packets are lost and late" lossy "loss 2% delay 1ms 500us" \
    messages 100 both theirs ours 4k -p 'verbs;ofi_rxm' -e rdm -S 4096
# long ones in order: one message, segments, and a payload that the peer reads
check "faults: MSG, packets of 64k are lost" lossy "loss 1% delay 1ms" \
    messages 20 both ours theirs 64k -p verbs -e msg -S 65536
smoke check "faults: rxm, packets of 64k are lost" lossy "loss 1% delay 1ms" \
    messages 20 both theirs ours 64k -p 'verbs;ofi_rxm' -e rdm -S 65536
check "faults: rxm, packets of 256k are lost" lossy "loss 1% delay 1ms" \
    messages 10 both theirs ours 256k -p 'verbs;ofi_rxm' -e rdm -S 262144
