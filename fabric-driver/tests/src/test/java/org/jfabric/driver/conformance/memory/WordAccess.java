package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Atomics;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;

/**
 * Accesses of one endpoint to words of 64 bits in a peer's memory, by each way there is. An access has a slot of local
 * memory of its own, by its number, which is also its context.
 */
final class WordAccess {
    /** Kinds of accesses; those before {@link #READ} change the word. */
    static final int WRITE = 0;
    static final int SUM = 1;
    static final int SET = 2;
    static final int READ = 3;
    static final int FETCH = 4;
    static final int FETCH_SUM = 5;
    static final int SWAP = 6;
    static final int KINDS = 7;

    private static final int SLOTS = 1024;
    private static final int RESULTS = SLOTS * Long.BYTES;
    private static final int COMPARES = 2 * RESULTS;

    private final FabricNode node;
    private final long peer;
    private final long key;
    private final RemoteMemory remote;
    private final Atomics atomics;
    /** One for all calls: each call of buffer() makes another one. */
    private final UnsafeBuffer words;
    private final AtomicRequest request = new AtomicRequest();

    WordAccess(FabricNode node, long peer, long key) {
        this.node = node;
        this.peer = peer;
        this.key = key;
        words = node.memory.buffer();
        remote = node.endpoint.remoteMemory();
        atomics = node.endpoint.atomics();
    }

    /** Whether an access of the kind brings the old value. */
    static boolean reads(int kind) {
        return kind >= READ;
    }

    /** The word behind an access: a swap compares with the operand of the access minus 1. */
    static long next(int kind, long word, long operand) {
        return switch (kind) {
            case WRITE, SET -> operand;
            case SUM, FETCH_SUM -> word + operand;
            case SWAP -> word == operand - 1 ? operand : word;
            default -> word;
        };
    }

    /** Posts an access, and returns what the call answered. */
    int tryPost(int kind, long offset, long operand, int number) {
        int slot = number % SLOTS * Long.BYTES;
        words.putLong(slot, operand);
        words.putLong(RESULTS + slot, 0x5555_5555_5555_5555L);
        words.putLong(COMPARES + slot, operand - 1);
        long operands = node.memory.address(slot);
        request.clear().operands(operands).results(node.memory.address(RESULTS + slot)).destAddr(peer)
            .remote(offset, key).opContext(number);
        return switch (kind) {
            case WRITE -> remote.write(operands, Long.BYTES, peer, offset, key, number);
            case SUM -> atomics.atomic(operands, 1, peer, offset, key, AtomicDatatype.INT64, AtomicOperation.SUM,
                number);
            case SET -> atomics.atomicmsg(
                request.operation(AtomicOperation.ATOMIC_WRITE, AtomicDatatype.INT64, 1));
            case READ -> remote.read(
                node.memory.address(RESULTS + slot), Long.BYTES, peer, offset, key, number);
            case FETCH -> atomics.fetchAtomicmsg(
                request.operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.INT64, 1));
            case FETCH_SUM -> atomics.fetchAtomicmsg(
                request.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1));
            default -> atomics.compareAtomicmsg(request.operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1)
                .compares(node.memory.address(COMPARES + slot)));
        };
    }

    /** Posts an access, which must be accepted. */
    void post(int kind, long offset, long operand, int number) {
        assertEquals(0, tryPost(kind, offset, operand, number));
    }

    /** Posts an access behind others, whose successful entries are read until there is room; returns how many. */
    int postBehind(int kind, long offset, long operand, int number) {
        int ended = 0;
        int result = tryPost(kind, offset, operand, number);
        while (result == -FabricErrno.EAGAIN) {
            assertEquals(0, node.await().err());
            ended++;
            result = tryPost(kind, offset, operand, number);
        }
        assertEquals(0, result);
        return ended;
    }

    /** The old value that an access has brought. */
    long result(int number) {
        return words.getLong(RESULTS + number % SLOTS * Long.BYTES);
    }
}
