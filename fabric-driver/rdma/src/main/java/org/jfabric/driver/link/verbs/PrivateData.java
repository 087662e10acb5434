package org.jfabric.driver.link.verbs;

import java.util.Arrays;

/**
 * The envelope that libfabric puts around private data: the data arrives with a fixed length, padded with zeros.
 *
 * <pre>
 *    0  u8 n | n bytes of the user
 * </pre>
 */
final class PrivateData {
    /** Bytes of the user in a request: 92 on the wire, of which the connection manager takes 36. */
    static final int MAX_LENGTH = 55;

    private static final byte[] NONE = {};

    private PrivateData() {
    }

    static byte[] wrap(byte[] data) {
        int length = Math.min(data.length, MAX_LENGTH);
        byte[] wrapped = new byte[1 + length];
        wrapped[0] = (byte) length;
        System.arraycopy(data, 0, wrapped, 1, length);
        return wrapped;
    }

    /** The content of an envelope; a length beyond its end is cut. */
    static byte[] unwrap(byte[] wrapped) {
        if (wrapped.length == 0) {
            return NONE;
        }
        return Arrays.copyOfRange(wrapped, 1, 1 + Math.min(wrapped[0] & 0xff, wrapped.length - 1));
    }
}
