package org.jfabric.driver.link.tcp.tls;

import java.nio.ByteBuffer;

/**
 * The buffers of one encrypted connection in use. They are on the heap: for direct buffers the JDK's ciphers allocate
 * arrays in each call.
 *
 * <pre>
 *   in     | records, the last one perhaps incomplete | free |
 *   plain  the bytes of the record that was opened last and are not taken yet
 *   text   bytes that are being sealed
 *   out    | written | records that the socket has not accepted | free |
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TlsBuffers {
    /** Room for any record, with what the JDK demands beyond its length. */
    static final int RECORD_BYTES = 17 << 10;
    /** Most plain bytes of a record. */
    static final int TEXT_BYTES = 16 << 10;
    /** Records that are written or read by one system call. */
    private static final int RECORDS = 4;
    /** Bytes of {@link #in} and of {@link #out}. */
    static final int WIRE_BYTES = RECORDS * RECORD_BYTES;

    /** Ready to be read from. */
    final ByteBuffer in = ByteBuffer.allocate(WIRE_BYTES).limit(0);
    /** Ready to be read from. */
    final ByteBuffer plain = ByteBuffer.allocate(RECORD_BYTES).limit(0);
    final ByteBuffer text = ByteBuffer.allocate(TEXT_BYTES);
    /** Ready to be read from. */
    final ByteBuffer out = ByteBuffer.allocate(WIRE_BYTES).limit(0);

    /** Whether nothing waits in them. */
    boolean isEmpty() {
        return !in.hasRemaining() && !plain.hasRemaining() && !out.hasRemaining();
    }

    void clear() {
        in.limit(0);
        plain.limit(0);
        out.limit(0);
    }
}
