package org.jfabric.driver.link.udp.dtls;

import org.agrona.UnsafeApi;

/**
 * The header of a record of DTLS 1.2 in a received datagram. It is not encrypted; what follows from it is checked when
 * the record is opened.
 *
 * <pre>
 *   0     type: 20 change of cipher, 21 alert, 22 handshake, 23 data
 *   1..2  version, 0xfeff or 0xfefd
 *   3..4  epoch: 0 until the handshake has keys, then 1
 *   5..10 number of the record in its epoch
 *   11..12 bytes that follow
 *   13    of a handshake in epoch 0: its message, 1 hello of a client, 2 hello of a server; 12 bytes of header,
 *         2 of version, 32 random ones
 * </pre>
 *
 * <p>Static; numbers are big-endian.
 */
final class DtlsRecord {
    static final int HEADER_BYTES = 13;
    static final int CHANGE_OF_CIPHER = 20;
    static final int ALERT = 21;
    static final int HANDSHAKE = 22;
    static final int DATA = 23;
    /** The epoch of a session's records: there is one handshake for each session. */
    static final int EPOCH_OF_SESSION = 1;
    static final int SERVER_HELLO = 2;
    /** Place of the random bytes of a hello. */
    static final int RANDOM = HEADER_BYTES + 14;
    static final int RANDOM_BYTES = 32;

    private static final int CLIENT_HELLO = 1;

    private DtlsRecord() {
    }

    /** Whether a datagram begins with a record. */
    static boolean isRecord(long address, int length) {
        if (length < HEADER_BYTES) {
            return false;
        }
        int type = type(address);
        int minor = at(address, 2);
        return type >= CHANGE_OF_CIPHER && type <= DATA && at(address, 1) == 0xfe && (minor == 0xfd || minor == 0xff)
            && HEADER_BYTES + (at(address, 11) << 8 | at(address, 12)) <= length;
    }

    static int type(long address) {
        return at(address, 0);
    }

    static int epoch(long address) {
        return at(address, 3) << 8 | at(address, 4);
    }

    static long number(long address) {
        long number = 0;
        for (int i = 5; i <= 10; i++) {
            number = number << 8 | at(address, i);
        }
        return number;
    }

    /** Whether a record begins a handshake, or is the same with the cookie. */
    static boolean isClientHello(long address, int length) {
        return type(address) == HANDSHAKE && epoch(address) == 0 && length >= RANDOM + RANDOM_BYTES
            && at(address, HEADER_BYTES) == CLIENT_HELLO;
    }

    private static int at(long address, int place) {
        return UnsafeApi.getByte(address + place) & 0xff;
    }
}
