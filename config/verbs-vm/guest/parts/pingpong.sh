# The project's own ping-pong over reliable datagrams: one packet, segments, a payload that the peer reads.

pingpong() {
    fabric pingpong --link verbs --mode "$1" --size "$2" --count 20 --interface 10.0.0.1,10.0.0.2
}

for size in 1 100KiB 4MiB; do
    check "pingpong: embedded, $size" pingpong embedded $size
done
for size in 1 4MiB; do
    check "pingpong: daemons, $size" pingpong daemon $size
done
