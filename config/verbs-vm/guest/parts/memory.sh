# Remote memory access between connected endpoints, by the cards.

memory() {
    local least=$1
    shift
    junit "$least" "-Djfabric.test.verbs=10.0.0.1,10.0.0.2" "$@"
}

test=org.jfabric.driver.VerbsMemoryTest
check "memory: by the card" memory 12 --select-class=$test
# what the last one has as well: writes, reads, data, atomics, and a key that the card refuses
[ -z "$SMOKE" ] || smoke check "memory: by the card, some tests" memory 4 \
    --select-method=$test#shouldWriteAndReadByVirtualAddressesAndKeysOfTheCard \
    --select-method=$test#shouldTakeAPostedReceiveForAWriteWithData \
    --select-method=$test#shouldAddAndCompareByTheCard \
    "--select-iteration=method:$test#shouldEndOnlyTheConnectionOfARefusedAccess($test\$Bad)[0]"

# reliable datagrams: writes, reads and data beside messages, with shared receives too, atomic operations and refusals
check "memory: by the card, reliable datagrams" memory 16 --select-class=org.jfabric.driver.VerbsReliableMemoryTest
