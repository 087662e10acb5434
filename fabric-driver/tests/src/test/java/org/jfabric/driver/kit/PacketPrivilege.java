package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.PacketSocket;

/** Whether this process may open packet sockets, and give them a ring: an emulator of processors may have none. */
public final class PacketPrivilege {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int FRAME_BYTES = 2048;
    /** Of a socket that was opened, or a negative errno; tried once, because to close one takes 10 ms and more. */
    private static final int OPENED = PacketSocket.openReceiver();
    /** 0 or a negative errno. */
    private static final int RING;

    static {
        RING = OPENED < 0 ? 0 : PacketSocket.ring(OPENED, BLOCK_BYTES, 1, FRAME_BYTES, true);
        if (OPENED >= 0) {
            Libc.close(OPENED);
        }
    }

    private PacketPrivilege() {
    }

    /** Skips the test, with the reason, without the privilege or the ring. */
    public static void assume() {
        assumeTrue(OPENED >= 0, "packet sockets are not permitted here (errno " + -OPENED + "): run the tests as root,"
            + " or with CAP_NET_RAW");
        assumeTrue(RING == 0, "packet sockets have no rings here (errno " + -RING + ")");
    }
}
