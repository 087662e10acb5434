package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.PacketSocket;

/** Whether this process may open packet sockets. */
public final class PacketPrivilege {
    private PacketPrivilege() {
    }

    /** Skips the test, with the reason, without the privilege. */
    public static void assume() {
        int fd = PacketSocket.openReceiver();
        if (fd >= 0) {
            Libc.close(fd);
        }
        assumeTrue(fd >= 0, "packet sockets are not permitted here (errno " + -fd + "): run the tests as root, or with "
            + "CAP_NET_RAW");
    }
}
