package org.jfabric.driver.ffi;

import java.nio.charset.StandardCharsets;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;

/** Words, texts and images of addresses in memory of C libraries. Stateless. */
final class NativeMemory {
    /** Errno that stands for a failure without an errno. */
    static final int EIO = FabricErrno.EIO;

    private static final int MAX_TEXT_LENGTH = 4096;
    private static final int AF_INET6 = 10;
    private static final int IN_LENGTH = 16;
    private static final int IN6_LENGTH = 28;

    private NativeMemory() {
    }

    /** Zeroed memory, to be freed by {@link #free}. */
    static long allocate(int bytes) {
        long address = UnsafeApi.allocateMemory(bytes);
        UnsafeApi.setMemory(address, bytes, (byte) 0);
        return address;
    }

    static void free(long address) {
        UnsafeApi.freeMemory(address);
    }

    static String text(long address) {
        if (address == 0) {
            return "";
        }
        int length = 0;
        while (length < MAX_TEXT_LENGTH && UnsafeApi.getByte(address + length) != 0) {
            length++;
        }
        return new String(bytes(address, length), StandardCharsets.UTF_8);
    }

    static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = UnsafeApi.getByte(address + i);
        }
        return bytes;
    }

    static void put(long address, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            UnsafeApi.putByte(address + i, bytes[i]);
        }
    }

    /** Image of a socket address; its length depends on its family. */
    static byte[] socketAddress(long address) {
        return bytes(address, UnsafeApi.getShort(address) == AF_INET6 ? IN6_LENGTH : IN_LENGTH);
    }
}
