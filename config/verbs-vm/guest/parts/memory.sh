# Remote memory access between connected endpoints, by the cards.

smoke check "memory: writes, reads, data and atomics by the card" junit 12 \
    "-Djfabric.test.verbs=10.0.0.1,10.0.0.2" --select-class=org.jfabric.driver.VerbsMemoryTest
