# Half round trips of 64 bytes beside those of the program of C, in one machine. SPEED_LIMIT is what ours may take, in
# hundredths of its time.

readonly LIMIT=$SPEED_LIMIT
# Fewer where both processors are one.
readonly ROUNDS=$([ "$LIMIT" -eq 110 ] && echo 3000 || echo 20000)
# Of both programs the least counts: what emulation adds to some is no property of a program. Ours does them one after
# the other, and one before: what its compiler does meanwhile is no part of a half round trip.
readonly TRIES=4
readonly SIZES=64$(printf ',64%.0s' $(seq $TRIES))

# Each call of a method that was not inlined leaves the page of guest code that the emulator has linked together, which
# is paid for once more each time. Where the first compiler is alone it shall inline what the second one would.
readonly INLINING=$([ "$LIMIT" -eq 110 ] ||
    echo -XX:C1MaxInlineSize=80 -XX:C1MaxInlineLevel=15 -XX:C1MaxTrivialSize=15)

# Times of transfers in microseconds, as both programs print them in their last column but one, without the first N.
transfers_us() {
    awk -v n="$2" '$1 == "64" && ++lines > n { print $(NF - 1) }' "$1"
}

ours() {
    local server
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
    server=$!
    for _ in $(seq 200); do listens && break; sleep 0.5; done
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1
    wait $server
    cat /tmp/client.log /tmp/server.log
    transfers_us /tmp/client.log 1 > /tmp/ours
}

theirs() {
    local server
    : > /tmp/theirs
    for _ in $(seq $TRIES); do
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS > /tmp/server.log 2>&1 &
        server=$!
        sleep 1
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS 10.0.0.1 > /tmp/client.log 2>&1
        wait $server
        cat /tmp/client.log
        transfers_us /tmp/client.log 0 >> /tmp/theirs
    done
}

beside() {
    local ratio least_ours least_theirs
    theirs "$@"
    ours "$@"
    [ "$(wc -l < /tmp/theirs)" -eq $TRIES ] && [ "$(wc -l < /tmp/ours)" -eq $TRIES ] || return 1
    least_ours=$(sort -g /tmp/ours | head -n 1)
    least_theirs=$(sort -g /tmp/theirs | head -n 1)
    ratio=$(awk -v a="$least_ours" -v b="$least_theirs" 'BEGIN { printf "%d", 100 * a / b + 0.5 }')
    echo "64 bytes, half a round trip: ours $least_ours us, fi_pingpong's $least_theirs us, ratio" \
        "$((ratio / 100)).$(printf %02d $((ratio % 100))) (at most $((LIMIT / 100)).$(printf %02d $((LIMIT % 100))))" \
        > /tmp/figures
    echo "all: ours" $(cat /tmp/ours) "theirs" $(cat /tmp/theirs) >> /tmp/figures
    [ "$ratio" -le "$LIMIT" ]
}

java_options+=($INLINING)
check "speed: MSG" beside -p verbs -e msg
check "speed: rxm" beside -p 'verbs;ofi_rxm' -e rdm
