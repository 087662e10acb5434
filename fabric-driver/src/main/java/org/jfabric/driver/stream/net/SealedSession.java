package org.jfabric.driver.stream.net;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.Key;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;

/**
 * What one sender has sealed since it has opened its socket: its number is drawn then, and no number of a datagram is
 * used twice. AES-128-GCM of the JDK, which allocates for each datagram.
 *
 * <p>Owner: progress agent.
 */
final class SealedSession {
    static final int TAG_BYTES = 16;
    private static final int NONCE_BYTES = 12;
    /** Numbers of datagrams that may come late; a sender has them in common for all of its peers. */
    private static final int WINDOW = 1 << 13;
    /** What may be missing: a greater number is not looked at, so that forged ones have no other keys made. */
    private static final long FARTHEST = 1 << 26;

    final long high;
    final long low;
    private final byte[] use;
    private final Cipher cipher;
    private final ByteBuffer nonce = ByteBuffer.allocate(NONCE_BYTES);
    private final long[] seen = new long[WINDOW / Long.SIZE];
    private GroupKeys keys;
    /** Of the key that has opened the last datagram. */
    private int index;
    private int era;
    private Key[] subkeys;
    /** The newest number that was opened; -1 before the first. */
    private long newest = -1;
    long heardNs;

    SealedSession(long high, long low, byte[] use) {
        this.high = high;
        this.low = low;
        this.use = use;
        try {
            cipher = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no AES-GCM", e);
        }
    }

    private void prepare(GroupKeys newKeys, int newEra) {
        if (newKeys != keys || newEra != era) {
            subkeys = new Key[newKeys.secrets().size()];
            keys = newKeys;
            index = 0;
            era = newEra;
        }
    }

    private Key subkey(int of) {
        if (subkeys[of] == null) {
            subkeys[of] = keys.subkey(of, high, low, use, era);
        }
        return subkeys[of];
    }

    private int crypt(int mode, int of, long number, byte[] from, int offset, int length, byte[] to, int at)
        throws GeneralSecurityException {
        nonce.putLong(NONCE_BYTES - Long.BYTES, number);
        cipher.init(mode, subkey(of), new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce.array()));
        return cipher.doFinal(from, offset, length, to, at);
    }

    /** Seals a datagram with the first key; its length with the tag. The number must not have been used. */
    int seal(GroupKeys newKeys, long number, byte[] plain, int length, byte[] sealed, int at) {
        prepare(newKeys, (int) (number >>> Integer.SIZE));
        try {
            return crypt(Cipher.ENCRYPT_MODE, 0, number, plain, 0, length, sealed, at);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("datagram " + number + " cannot be sealed", e);
        }
    }

    /** Whether a datagram with this number needs another key than the last one, which takes a while to make. */
    boolean isPrepared(GroupKeys newKeys, long number) {
        return newKeys == keys && (int) (number >>> Integer.SIZE) == era;
    }

    /** Opens a datagram by one of the keys; its length, negative if it was not sealed with one of them. */
    int open(GroupKeys newKeys, long number, byte[] sealed, int offset, int length, byte[] plain) {
        prepare(newKeys, (int) (number >>> Integer.SIZE));
        for (int i = 0; i < subkeys.length; i++) {
            int tried = (index + i) % subkeys.length;
            try {
                int opened = crypt(Cipher.DECRYPT_MODE, tried, number, sealed, offset, length, plain, 0);
                index = tried;
                return opened;
            } catch (GeneralSecurityException e) {
                // with the next one, if there is one
            }
        }
        return -1;
    }

    /** Whether a number was not opened yet and is not too old; looked at before the datagram is opened. */
    boolean isNew(long number) {
        return number > newest ? newest < 0 || number - newest < FARTHEST
            : number >= 0 && newest - number < WINDOW && (seen[word(number)] & 1L << number) == 0;
    }

    /** A datagram with this number, which is new, was opened. */
    void opened(long number) {
        if (number > newest) {
            // the places of the numbers between are free again
            long count = Math.min(WINDOW, number - newest);
            for (long i = number - count + 1; i <= number; i++) {
                seen[word(i)] &= ~(1L << i);
            }
            newest = number;
        }
        seen[word(number)] |= 1L << number;
    }

    private static int word(long number) {
        return (int) (number & WINDOW - 1) / Long.SIZE;
    }
}
