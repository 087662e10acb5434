package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.ZeroCopy;
import org.jfabric.info.SocketName;

/**
 * The system's sockets, but reports about sends without a copy come when the test makes them: within one host the
 * system copies, and reports at once.
 */
final class WithheldReports extends TcpNetwork {
    final List<Port> ports = new ArrayList<>();
    private final TcpNetwork system = TcpNetwork.of(Sockets.NATIVE);

    /** The only outgoing connection. */
    Port port() {
        return ports.getFirst();
    }

    @Override
    TcpListener listen(SocketName wanted, int backlog) {
        return system.listen(wanted, backlog);
    }

    @Override
    TcpPort begin(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
        Port port = new Port(system.begin(local, remote, keepsPort, marks));
        ports.add(port);
        return port;
    }

    @Override
    WatchedSet watch(LinkServices services) {
        return system.watch(services);
    }

    /** A report of a range. */
    record Report(int first, int last, boolean isCopied) {
    }

    /** A socket of the system. */
    static final class Port extends TcpPort {
        private final TcpPort socket;
        final List<Report> reports = new ArrayList<>();
        /** Sends without a copy. */
        int sends;
        /** Every so many of these calls the system has no memory for a report; 0 for never. */
        int lackEvery;
        boolean isAborted;
        private int calls;

        Port(TcpPort socket) {
            this.socket = socket;
        }

        @Override
        int allowPinned() {
            return 0;
        }

        @Override
        long sendPinned(IoVector vector) {
            calls++;
            if (lackEvery != 0 && calls % lackEvery == 0) {
                return -ZeroCopy.ENOBUFS;
            }
            long sent = socket.sendVector(vector);
            sends += sent > 0 ? 1 : 0;
            return sent;
        }

        @Override
        int takeReports(ZeroCopy room, TcpPins pins) {
            int taken = reports.size();
            for (Report report : reports) {
                pins.onReport(report.first, report.last, report.isCopied);
            }
            reports.clear();
            return taken;
        }

        @Override
        void abort() {
            isAborted = true;
            socket.abort();
        }

        @Override
        public int fd() {
            return socket.fd();
        }

        @Override
        public SelectableChannel channel() {
            return socket.channel();
        }

        @Override
        public int connectError() {
            return socket.connectError();
        }

        @Override
        public boolean isReset() {
            return socket.isReset();
        }

        @Override
        public SocketName localName() {
            return socket.localName();
        }

        @Override
        public long send(long address, long length) {
            return socket.send(address, length);
        }

        @Override
        public long receive(long address, long length) {
            return socket.receive(address, length);
        }

        @Override
        public long sendVector(IoVector vector) {
            return socket.sendVector(vector);
        }

        @Override
        public long receiveVector(IoVector vector) {
            return socket.receiveVector(vector);
        }

        @Override
        public long receiveError(IoVector vector) {
            return socket.receiveError(vector);
        }

        @Override
        public TcpSocket.Health health() {
            return socket.health();
        }

        @Override
        public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
            socket.keepAlive(idleSeconds, intervalSeconds, probes);
        }

        @Override
        public void userTimeout(int milliseconds) {
            socket.userTimeout(milliseconds);
        }

        @Override
        public void mark(SocketClass marks) {
            socket.mark(marks);
        }

        @Override
        public void close() {
            socket.close();
        }
    }
}
