package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.PacketSocket;

/** Whether this process may open packet sockets. */
public final class PacketPrivilege {
    /** Of a socket that was opened, or a negative errno; tried once, because to close one takes 10 ms and more. */
    private static final int OPENED = PacketSocket.openReceiver();

    static {
        if (OPENED >= 0) {
            Libc.close(OPENED);
        }
    }

    private PacketPrivilege() {
    }

    /** Skips the test, with the reason, without the privilege. */
    public static void assume() {
        assumeTrue(OPENED >= 0, "packet sockets are not permitted here (errno " + -OPENED + "): run the tests as root,"
            + " or with CAP_NET_RAW");
    }
}
