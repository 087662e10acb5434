package org.jfabric.driver.link.udp;

import java.io.IOException;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.BusyPoll;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Reason;

/** Whether busy polling is of use on this host: what the verdict of link udp says of it. Any thread; may be slow. */
final class BusyPollVerdict {
    private static final String CONDITION = "busy poll";
    /** A UDP socket of the loopback interface, with any port. */
    private static final byte[] ANY_PORT = {2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};

    private BusyPollVerdict() {
    }

    /** What is to be known; empty if the option is off. */
    static List<Reason> of(DriverConfig config) {
        int micros = config.get(UdpConfig.BUSY_POLL_MICROS);
        if (micros == 0) {
            return List.of();
        }
        int fd = UdpSocket.open(ANY_PORT, false);
        if (fd < 0) {
            return List.of();
        }
        try {
            return List.of(describe(micros, BusyPoll.set(fd, micros), devices()));
        } finally {
            SocketLibrary.close(fd);
        }
    }

    /** Puts it into words. */
    static Reason describe(int micros, int result, List<String> devices) {
        String name = UdpConfig.BUSY_POLL_MICROS.name();
        if (result < 0) {
            return new Reason(CONDITION, micros + " us refused: " + FabricErrno.describe(-result) + "; sockets are not"
                + " polled", "CAP_NET_ADMIN, or net.core.busy_read of " + micros + " or more",
                "sysctl net.core.busy_read=" + micros + ", or AmbientCapabilities=CAP_NET_ADMIN in the driver's unit"
                    + " of systemd, or " + name + "=0");
        }
        return devices.isEmpty()
            ? new Reason(CONDITION, micros + " us, and no interface has a device behind it, so that it has no effect",
                "a network card", "Set " + name + " to 0")
            : new Reason(CONDITION, micros + " us for datagrams that come by " + String.join(", ", devices)
                + "; none of this host", "a driver of the card that can be polled (NAPI)", "");
    }

    private static List<String> devices() {
        try {
            return NetworkInterface.networkInterfaces().filter(BusyPollVerdict::isUp).map(NetworkInterface::getName)
                .filter(each -> Files.exists(Path.of("/sys/class/net", each, "device"))).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static boolean isUp(NetworkInterface each) {
        try {
            return each.isUp();
        } catch (IOException e) {
            return false;
        }
    }
}
