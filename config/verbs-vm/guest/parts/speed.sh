# Half round trips of 64 bytes beside those of the program of C, in one machine. SPEED_LIMIT is what ours may take, in
# hundredths of its time.

readonly LIMIT=$SPEED_LIMIT
# Of both programs the least counts: how quick the emulator is with the same instructions depends on where it has put
# what it made of them, which changes each time it throws that away, and on what else this host does. So there are many
# short tries. Ours does them one after the other, and one before: what its compiler does meanwhile is no part of a half
# round trip. The program of C needs a process for each, half of them before ours and half after. One thread is too slow
# for many.
if [ "$LIMIT" -eq 110 ]; then
    readonly ROUNDS=3000 OUR_TRIES=4 THEIR_TRIES=4
else
    readonly ROUNDS=2500 OUR_TRIES=60 THEIR_TRIES=10
fi
readonly SIZES=64$(printf ',64%.0s' $(seq $OUR_TRIES))

# Each call of a method that was not inlined leaves the page of guest code that the emulator has linked together, which
# is paid for once more each time. Where the first compiler is alone it shall inline what the second one would: by
# itself it inlines nothing that needs more than five words of stack.
readonly INLINING=$([ "$LIMIT" -eq 110 ] ||
    echo -XX:C1MaxInlineSize=80 -XX:C1MaxInlineLevel=15 -XX:C1MaxTrivialSize=15 -XX:C1InlineStackLimit=40)

# Times of transfers in microseconds, as both programs print them in their last column but one, without the first N.
transfers_us() {
    awk -v n="$2" '$1 == "64" && ++lines > n { print $(NF - 1) }' "$1"
}

ours() {
    local server
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.1 > /tmp/server.log 2>&1 &
    server=$!
    await_server ours $server
    fabric fi-pingpong "$@" -S $SIZES -I $ROUNDS --timeout 300 --bind 10.0.0.2 10.0.0.1 > /tmp/client.log 2>&1
    wait $server
    cat /tmp/client.log /tmp/server.log
    transfers_us /tmp/client.log 1 > /tmp/ours
}

# theirs OPTIONS...: half of its tries
theirs() {
    local server
    for _ in $(seq $((THEIR_TRIES / 2))); do
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS > /tmp/server.log 2>&1 &
        server=$!
        sleep 1
        timeout 150 fi_pingpong "$@" -S 64 -I $ROUNDS 10.0.0.1 > /tmp/client.log 2>&1
        wait $server
        cat /tmp/client.log
        transfers_us /tmp/client.log 0 >> /tmp/theirs
    done
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
    theirs "$@"
    ours "$@"
    theirs "$@"
    [ "$(wc -l < /tmp/theirs)" -eq $THEIR_TRIES ] && [ "$(wc -l < /tmp/ours)" -eq $OUR_TRIES ] || return 1
    ratio=$(awk -v a="$(least /tmp/ours)" -v b="$(least /tmp/theirs)" 'BEGIN { printf "%d", 100 * a / b + 0.5 }')
    echo "64 bytes, half a round trip: ours $(least /tmp/ours) us, fi_pingpong's $(least /tmp/theirs) us, ratio" \
        "$((ratio / 100)).$(printf %02d $((ratio % 100))) (at most $((LIMIT / 100)).$(printf %02d $((LIMIT % 100))))" \
        > /tmp/figures
    echo "the middle ones: $(middle /tmp/ours) us and $(middle /tmp/theirs) us" >> /tmp/figures
    echo "all: ours" $(cat /tmp/ours) "theirs" $(cat /tmp/theirs) >> /tmp/figures
    [ "$ratio" -le "$LIMIT" ]
}

java_options+=($INLINING)
check "speed: MSG" beside -p verbs -e msg
check "speed: rxm" beside -p 'verbs;ofi_rxm' -e rdm
