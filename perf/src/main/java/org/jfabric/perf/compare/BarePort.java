package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.Info;
import org.jfabric.tool.ToolException;

/**
 * The baseline of messages over sockets: a plain non-blocking socket of the loopback interface or of a cable's
 * end, one system call that sends and one that receives, over and over until it finds something, as a C program would
 * do it. Owner: one thread.
 */
abstract sealed class BarePort implements Port {
    static final int MOST_DATAGRAM_BYTES = 1472;

    /** The interface that is used unless a driver's option names another one. */
    static final String LOOPBACK = "lo";

    private static final int ALIGNMENT = 64;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final long PAUSE_NS = 1_000_000;

    final Arena arena = Arena.ofShared();
    final long sizeBytes;
    final long sendAddress;
    final long receiveAddress;
    /** Name to bind to: any port of this side's address. */
    final byte[] anyPort;
    int fd = -1;
    long received;

    private final SideSettings settings;

    private BarePort(SideSettings settings) {
        this.settings = settings;
        sizeBytes = settings.sizeBytes();
        sendAddress = arena.allocate(sizeBytes, ALIGNMENT).address();
        receiveAddress = arena.allocate(sizeBytes, ALIGNMENT).address();
        anyPort = LocalAddresses.choose(new Info().addrFormat(AddressFormat.SOCKADDR_IN),
            System.getProperty(UdpConfig.INTERFACE.name(), LOOPBACK), UdpConfig.INTERFACE.name()).toBytes();
    }

    @Override
    public final long received() {
        return received;
    }

    /** Lets the other side know the name of a socket. */
    final void publish(byte[] name) {
        try {
            Files.createDirectories(settings.directory());
            Files.write(file(settings.role()), name);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The name that the other side has published. */
    final byte[] other() {
        try {
            return Files.readAllBytes(file(settings.other()));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path file(SideRole role) {
        return settings.directory().resolve("socket-" + role.text());
    }

    static int check(String call, int result) {
        if (result < 0) {
            throw new ToolException("The baseline over sockets failed: " + call + " answered " + result + ".");
        }
        return result;
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Libc.close(fd);
        }
        arena.close();
    }

    /** A connection, small writes of it sent at once. */
    static final class Tcp extends BarePort {
        private final int listenFd;
        private long sent;
        private long arrived;

        Tcp(SideSettings settings) {
            super(settings);
            if (settings.role() == SideRole.PONG) {
                listenFd = check("listen", TcpSocket.listen(anyPort, 1));
                publish(TcpSocket.localName(listenFd));
            } else {
                listenFd = -1;
            }
        }

        @Override
        public void connect() {
            if (listenFd < 0) {
                fd = check("connect", TcpSocket.connect(anyPort, other(), SocketClass.NONE));
            }
        }

        @Override
        public void arm() {
            long begin = System.nanoTime();
            while (fd < 0) {
                fd = TcpSocket.accept(listenFd);
                if (fd < 0) {
                    if (System.nanoTime() - begin > TIMEOUT_NS) {
                        check("accept", fd);
                    }
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        }

        @Override
        public boolean trySend() {
            long taken = TcpSocket.send(fd, sendAddress + sent, sizeBytes - sent);
            if (taken > 0) {
                sent += taken;
            }
            if (sent < sizeBytes) {
                return false;
            }
            sent = 0;
            return true;
        }

        @Override
        public void poll() {
            long taken = TcpSocket.receive(fd, receiveAddress + arrived, sizeBytes - arrived);
            if (taken == 0) {
                throw new ToolException("The other side of the baseline over tcp has ended.");
            }
            if (taken > 0) {
                arrived += taken;
            }
            if (arrived == sizeBytes) {
                arrived = 0;
                received++;
            }
        }

        @Override
        public void close() {
            super.close();
            if (listenFd >= 0) {
                Libc.close(listenFd);
            }
        }
    }

    /** Datagrams; with one under way, none is lost. */
    static final class Udp extends BarePort {
        private final MessageVector outgoing = new MessageVector(1, 1);
        private final MessageVector incoming = new MessageVector(1, 1);

        Udp(SideSettings settings) {
            super(settings);
            fd = check("bind", UdpSocket.open(anyPort, false));
            publish(UdpSocket.name(fd));
            outgoing.piece(0, 0, sendAddress, sizeBytes);
            outgoing.pieceCount(0, 1);
            incoming.piece(0, 0, receiveAddress, sizeBytes);
            incoming.pieceCount(0, 1);
            incoming.name(0, incoming.nameAddress(0), MessageVector.NAME_BYTES);
        }

        @Override
        public void connect() {
            byte[] name = other();
            MemorySegment copy = arena.allocate(name.length, Long.BYTES);
            MemorySegment.copy(name, 0, copy, ValueLayout.JAVA_BYTE, 0, name.length);
            outgoing.name(0, copy.address(), name.length);
        }

        @Override
        public boolean trySend() {
            int sent = UdpSocket.send(fd, outgoing, 1);
            if (sent < 0 && sent != -UdpSocket.EAGAIN) {
                check("sendto", sent);
            }
            return sent == 1;
        }

        @Override
        public void poll() {
            incoming.nameLength(0, MessageVector.NAME_BYTES);
            received += UdpSocket.receive(fd, incoming, 1);
        }
    }
}
