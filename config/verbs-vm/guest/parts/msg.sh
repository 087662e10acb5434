# Connected endpoints: ourselves, and the program of C.

# two processes that poll without pause leave the emulated device little time, so only one size
check "MSG: ours with ours" both ours ours 64k -p verbs -e msg -S 65536
smoke check "MSG: our server, fi_pingpong as client" both ours theirs 1m -p verbs -e msg
check "MSG: fi_pingpong as server, our client" both theirs ours 1m -p verbs -e msg
