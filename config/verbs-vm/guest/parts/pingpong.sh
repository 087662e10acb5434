# The project's own ping-pong over reliable datagrams: one packet, segments, a payload that the peer reads.

pingpong() {
    fabric pingpong --link verbs --mode "$1" --size "$2" --count 20 --interface 10.0.0.1,10.0.0.2
}

check "pingpong: embedded, 1 byte to 4 MiB" pingpong embedded 1,4KiB,100KiB,4MiB
check "pingpong: daemons, 1 byte to 4 MiB" pingpong daemon 1,4MiB
