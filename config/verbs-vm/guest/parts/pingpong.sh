# The project's own ping-pong over reliable datagrams: one packet, segments, a payload that the peer reads.

for mode in embedded daemon; do
    for size in 1 4KiB 100KiB 4MiB; do
        check "pingpong: $mode, $size" \
            fabric pingpong --link verbs --mode $mode --size $size --count 20 --interface 10.0.0.1,10.0.0.2
    done
done
