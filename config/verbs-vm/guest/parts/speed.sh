# Half round trips of 64 bytes beside those of the program of C, in one machine. SPEED_LIMIT is what ours may take, in
# hundredths of its time.

readonly LIMIT=$SPEED_LIMIT
# Of both programs the least counts, of equally many tries: how quick the emulator is with the same instructions depends
# on where it has put what it made of them, and on what else this host does. Ours does its tries one after the other,
# behind some in which its compiler is busy: that is no part of a half round trip. The program of C needs a process for
# each, half of them before ours and half after. One thread is too slow for many.
if [ "$LIMIT" -eq 110 ]; then
    readonly ROUNDS=3000 WARM_UPS=1 TRIES=4
else
    readonly ROUNDS=2500 WARM_UPS=10 TRIES=10
fi
readonly SIZES=64$(printf ',64%.0s' $(seq $((WARM_UPS + TRIES - 1))))

# Each call of a method that was not inlined leaves the page of guest code that the emulator has linked together, which
# is paid for once more each time. Where the first compiler is alone it shall inline what the second one would: by
# itself it inlines nothing that needs more than ten words of stack.
readonly INLINING=$([ "$LIMIT" -eq 110 ] ||
    echo -XX:C1MaxInlineSize=80 -XX:C1MaxInlineLevel=15 -XX:C1MaxTrivialSize=15 -XX:C1InlineStackLimit=40)

# Times of transfers in microseconds, as both programs print them in their last column but one, without the first N.
transfers_us() {
    awk -v n="$2" '$1 == "64" && ++lines > n { print $(NF - 1) }' "$1"
}

ours() {
    local server status=0
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
    server=$!
    await_server ours $server
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1 ||
        status=1
    wait $server || status=1
    cat /tmp/client.log /tmp/server.log
    transfers_us /tmp/client.log $WARM_UPS > /tmp/ours
    return $status
}

# theirs OPTIONS...: half of its tries
theirs() {
    local server status=0
    for _ in $(seq $((TRIES / 2))); do
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS > /tmp/server.log 2>&1 &
        server=$!
        await_server theirs $server
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS 10.0.0.1 > /tmp/client.log 2>&1 || status=1
        wait $server || status=1
        cat /tmp/client.log
        transfers_us /tmp/client.log 0 >> /tmp/theirs
    done
    return $status
}

# The least and the middle one of the times in a file.
least() {
    sort -g "$1" | head -n 1
}
middle() {
    sort -g "$1" | sed -n "$((($(wc -l < "$1") + 1) / 2))p"
}

beside() {
    local ratio
    : > /tmp/theirs
    theirs "$@" && ours "$@" && theirs "$@" || return 1
    [ "$(wc -l < /tmp/theirs)" -eq $TRIES ] && [ "$(wc -l < /tmp/ours)" -eq $TRIES ] || return 1
    ratio=$(awk -v a="$(least /tmp/ours)" -v b="$(least /tmp/theirs)" 'BEGIN { printf "%d", 100 * a / b + 0.5 }')
    [ -n "$ratio" ] || return 1
    echo "64 bytes, half a round trip: ours $(least /tmp/ours) us, fi_pingpong's $(least /tmp/theirs) us, ratio" \
        "$((ratio / 100)).$(printf %02d $((ratio % 100))) (at most $((LIMIT / 100)).$(printf %02d $((LIMIT % 100))))" \
        > /tmp/figures
    echo "the middle ones: $(middle /tmp/ours) us and $(middle /tmp/theirs) us" >> /tmp/figures
    echo "all: ours" $(cat /tmp/ours) "theirs" $(cat /tmp/theirs) >> /tmp/figures
    [ "$ratio" -le "$LIMIT" ] || return $MISSED
}

java_options+=($INLINING)
check "speed: MSG" beside -p verbs -e msg
check "speed: rxm" beside -p 'verbs;ofi_rxm' -e rdm
