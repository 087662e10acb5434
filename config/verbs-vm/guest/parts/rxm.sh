# Reliable datagrams, with the program of C.

rxm() {
    check "rxm, $1: our server, fi_pingpong as client" both ours theirs 1m -p 'verbs;ofi_rxm' -e rdm -m "$1"
}

rxm_client() {
    check "rxm, $1: fi_pingpong as server, our client" both theirs ours 1m -p 'verbs;ofi_rxm' -e rdm -m "$1"
}

rxm msg
smoke rxm_client msg
rxm tagged
rxm_client tagged
