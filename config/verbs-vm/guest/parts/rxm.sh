# Reliable datagrams, with the program of C.

for mode in msg tagged; do
    check "rxm, $mode: our server, fi_pingpong as client" both ours theirs 1m -p 'verbs;ofi_rxm' -e rdm -m $mode
    check "rxm, $mode: fi_pingpong as server, our client" both theirs ours 1m -p 'verbs;ofi_rxm' -e rdm -m $mode
done
