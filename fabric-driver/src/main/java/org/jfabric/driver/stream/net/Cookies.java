package org.jfabric.driver.stream.net;

import java.util.function.LongSupplier;

/**
 * Cookies prove that a peer receives at the address that it sends from. Nothing is kept for one that was given: it is a
 * keyed hash (SipHash-2-4) of the address and the reader, and the key is drawn anew from time to time.
 *
 * <p>Owner: progress agent.
 */
final class Cookies {
    /** A cookie is good for this time at least, and for twice of it at most. */
    static final long LIFE_NS = 16_000_000_000L;

    private final LongSupplier random;
    private final long[] keys = new long[4];
    private long renewNs;
    private long v0;
    private long v1;
    private long v2;
    private long v3;

    Cookies(LongSupplier random, long nowNs) {
        this.random = random;
        for (int i = 0; i < keys.length; i++) {
            keys[i] = random.getAsLong();
        }
        renewNs = nowNs + LIFE_NS;
    }

    /** Draws a new key when it is time; the last one stays good. */
    void step(long nowNs) {
        if (nowNs - renewNs >= 0) {
            renewNs = nowNs + LIFE_NS;
            keys[2] = keys[0];
            keys[3] = keys[1];
            keys[0] = random.getAsLong();
            keys[1] = random.getAsLong();
        }
    }

    /** The cookie of a reader at an address; never 0. */
    long cookie(long reader, long name, int nameLength) {
        return hash(0, reader, name, nameLength);
    }

    boolean isGood(long cookie, long reader, long name, int nameLength) {
        return cookie == hash(0, reader, name, nameLength) || cookie == hash(2, reader, name, nameLength);
    }

    private long hash(int key, long reader, long name, int nameLength) {
        v0 = keys[key] ^ 0x736f6d6570736575L;
        v1 = keys[key + 1] ^ 0x646f72616e646f6dL;
        v2 = keys[key] ^ 0x6c7967656e657261L;
        v3 = keys[key + 1] ^ 0x7465646279746573L;
        mix(reader);
        mix(PeerAddress.head(name, nameLength));
        mix(PeerAddress.high(name, nameLength));
        mix(PeerAddress.low(name, nameLength));
        // the last word of SipHash has the length in bytes
        mix((long) (4 * Long.BYTES) << 56);
        v2 ^= 0xff;
        for (int i = 0; i < 4; i++) {
            round();
        }
        long hash = v0 ^ v1 ^ v2 ^ v3;
        return hash == 0 ? 1 : hash;
    }

    private void mix(long word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }
}
