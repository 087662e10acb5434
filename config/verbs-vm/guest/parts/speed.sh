# Half round trips of 64 bytes beside those of the program of C, in one machine. SPEED_LIMIT is what ours may take, in
# hundredths of its time.

readonly LIMIT=$SPEED_LIMIT
# So many that the JVM's compiler is done in the first of them; fewer where both processors are one.
readonly ROUNDS=$([ "$LIMIT" -eq 110 ] && echo 3000 || echo 20000)
readonly TRIES=2

# Time of one transfer in microseconds, as both programs print it in their last line but one column.
transfer_us() {
    awk '$1 == "64" { print $(NF - 1) }' "$1"
}

# half_round_trip ours|theirs OPTIONS...: of both sides.
half_round_trip() {
    local whose=$1 server
    shift
    if [ "$whose" = ours ]; then
        fabric fi-pingpong "$@" -S 64 -I $ROUNDS --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
        server=$!
        for _ in $(seq 200); do listens && break; sleep 0.5; done
        fabric fi-pingpong "$@" -S 64 -I $ROUNDS --timeout 300 --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1
    else
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS > /tmp/server.log 2>&1 &
        server=$!
        sleep 1
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS 10.0.0.1 > /tmp/client.log 2>&1
    fi
    wait $server
    transfer_us /tmp/client.log
}

# The least of several tries counts for both: what emulation adds to some is no property of a program.
beside() {
    local ours theirs least_ours= least_theirs= ratio
    for _ in $(seq $TRIES); do
        theirs=$(half_round_trip theirs "$@")
        cat /tmp/client.log
        ours=$(half_round_trip ours "$@")
        cat /tmp/client.log
        echo "ours $ours us, theirs $theirs us"
        [ -n "$ours" ] && [ -n "$theirs" ] || { cat /tmp/server.log; return 1; }
        least_ours=$(printf '%s\n' $least_ours "$ours" | sort -g | head -n 1)
        least_theirs=$(printf '%s\n' $least_theirs "$theirs" | sort -g | head -n 1)
    done
    ratio=$(awk -v a="$least_ours" -v b="$least_theirs" 'BEGIN { printf "%d", 100 * a / b + 0.5 }')
    echo "64 bytes, half a round trip: ours $least_ours us, fi_pingpong's $least_theirs us, ratio" \
        "$((ratio / 100)).$(printf %02d $((ratio % 100))) (at most $((LIMIT / 100)).$(printf %02d $((LIMIT % 100))))" \
        > /tmp/figures
    [ "$ratio" -le "$LIMIT" ]
}

check "speed: MSG" beside -p verbs -e msg
check "speed: rxm" beside -p 'verbs;ofi_rxm' -e rdm
