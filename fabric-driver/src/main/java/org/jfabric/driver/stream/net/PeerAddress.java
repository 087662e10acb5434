package org.jfabric.driver.stream.net;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.UnsafeApi;
import org.jfabric.info.SocketName;
import org.jfabric.layout.Words;

/**
 * The address of a peer: a {@code sockaddr} of IPv4 or IPv6 in native memory. Owner: progress agent.
 */
public final class PeerAddress {
    private static final int PLACE = 16;
    private static final int SCOPE = 24;

    private final MemorySegment memory = Arena.ofAuto().allocate(2 * PLACE, Long.BYTES);
    private final long name = memory.address();
    private int length;

    /** The address of a socket. */
    public static PeerAddress of(SocketName socket) {
        PeerAddress address = new PeerAddress();
        byte[] image = socket.toBytes();
        MemorySegment.copy(image, 0, address.memory, ValueLayout.JAVA_BYTE, 0, image.length);
        address.length = image.length;
        return address;
    }

    /** Whether a name is one of the two kinds. */
    static boolean isAddress(int nameLength) {
        return nameLength == SocketName.IN_LENGTH || nameLength == SocketName.IN6_LENGTH;
    }

    /** Family and port in the lower half. */
    static long head(long name, int nameLength) {
        return nameLength == SocketName.IN_LENGTH ? UnsafeApi.getLong(name)
            : UnsafeApi.getInt(name) & 0xffff_ffffL | (long) UnsafeApi.getInt(name + SCOPE) << Integer.SIZE;
    }

    static long high(long name, int nameLength) {
        return nameLength == SocketName.IN_LENGTH ? 0 : UnsafeApi.getLong(name + Long.BYTES);
    }

    static long low(long name, int nameLength) {
        return nameLength == SocketName.IN_LENGTH ? 0 : UnsafeApi.getLong(name + PLACE);
    }

    /** Takes an address from native memory. */
    public void set(long newName, int newLength) {
        Words.copyShort(newName, name, newLength);
        length = newLength;
    }

    void clear() {
        length = 0;
    }

    boolean isSet() {
        return length != 0;
    }

    /** Whether it is the same host and port. */
    public boolean is(long other, int otherLength) {
        return length != 0 && otherLength == length && head(other, length) == head(name, length)
            && high(other, length) == high(name, length) && low(other, length) == low(name, length);
    }

    /** Whether it is the same as another one. */
    public boolean is(PeerAddress other) {
        return is(other.name, other.length);
    }

    /** Whether it is the same host, with whatever port. */
    boolean isOnHostOf(PeerAddress other) {
        return length != 0 && other.length == length
            && head(other.name, length) >>> Integer.SIZE == head(name, length) >>> Integer.SIZE
            && high(other.name, length) == high(name, length) && low(other.name, length) == low(name, length);
    }

    /** Native address of the {@code sockaddr}. */
    public long name() {
        return name;
    }

    /** Its length in bytes. */
    public int length() {
        return length;
    }

    /** The image of the {@code sockaddr}. */
    public byte[] toBytes() {
        byte[] image = new byte[length];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, image, 0, length);
        return image;
    }

    /** As users write it: address and port. */
    @Override
    public String toString() {
        String text = length == 0 ? "no address" : SocketName.ofBytes(toBytes()).toString();
        return text.substring(text.lastIndexOf('/') + 1);
    }
}
