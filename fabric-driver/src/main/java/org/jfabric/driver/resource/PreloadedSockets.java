package org.jfabric.driver.resource;

import java.util.List;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.SocketStack;
import org.jfabric.driver.config.Sockets;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Reason;

/** A library that {@code LD_PRELOAD} has loaded in front of the C library: its choice and the words about it. */
public final class PreloadedSockets {
    /** Of the reasons in verdicts that name it. */
    public static final String CONDITION = "socket library";

    private static final String OPTION = LinkConfig.SOCKET_LIBRARY.name();
    /** Of IPv4, with any address and port. */
    private static final byte[] ANY_NAME = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

    private PreloadedSockets() {
    }

    /**
     * Chooses the library for the sockets of this process.
     *
     * @throws FabricException {@code FI_ENOENT} if there is none of that kind, {@code FI_EBUSY} if the process has
     *     sockets of another one, or with the errno of the library if it gives none.
     */
    public static void choose(SocketStack wanted) {
        if (wanted == SocketStack.PRELOADED && SocketLibrary.preloaded() == null) {
            throw new FabricException(FabricErrno.ENOENT, OPTION + " is " + wanted + ", and no library with the"
                + " functions of sockets is loaded in front of the C library",
                "Start the process with LD_PRELOAD=<library>, as onload does, or set it to AUTO.");
        }
        if (!SocketLibrary.choose(wanted != SocketStack.SYSTEM)) {
            throw new FabricException(FabricErrno.EBUSY, OPTION + " is " + wanted + ", and this process has sockets of "
                + name(), "Set the same for all drivers of a process, and start them before its first fabric.");
        }
        if (SocketLibrary.path() != null) {
            tryIt();
        }
    }

    /** One that could not start, as libvma without a device, has sockets or not, and none that can be waited for. */
    private static void tryIt() {
        int fd = UdpSocket.open(ANY_NAME, false);
        int result = fd;
        if (fd >= 0) {
            try (Epoll epoll = new Epoll(1)) {
                result = epoll.add(fd, Epoll.EPOLLIN, 0);
            } catch (NativeCallException refused) {
                result = -refused.errno();
            }
            SocketLibrary.close(fd);
        }
        if (result < 0) {
            throw new FabricException(-result, "no socket that can be waited for from " + name()
                + ", which is loaded in front of the C library", "See what it has printed, take it out of LD_PRELOAD,"
                + " or set " + OPTION + " to SYSTEM.");
        }
    }

    /** The library that is called, for people. */
    public static String name() {
        String path = SocketLibrary.path();
        String passedBy = path == null ? SocketLibrary.preloaded() : null;
        return path != null ? path : "the C library" + (passedBy == null ? "" : ", not of " + passedBy);
    }

    /** What verdicts of links over sockets say of it; empty if the C library is called. */
    public static List<Reason> bounds(Sockets sockets) {
        // the JDK's own calls go through it in any case
        String path = sockets == Sockets.NIO ? SocketLibrary.preloaded() : SocketLibrary.path();
        return path == null ? List.of() : List.of(new Reason(CONDITION, path, "sockets that behave as the system's",
            "It is loaded in front of the C library; set " + OPTION + " to SYSTEM to pass it by"));
    }

    /** What keeps links from working that read past such a library; empty if the C library is called. */
    public static List<Reason> obstacles() {
        String path = SocketLibrary.path();
        return path == null ? List.of() : List.of(new Reason(CONDITION, path,
            "the C library: datagrams that another one takes from the card do not come by the packet ring",
            "Set " + OPTION + " to SYSTEM, or use link udp"));
    }
}
