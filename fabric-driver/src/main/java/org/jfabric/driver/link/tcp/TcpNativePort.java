package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.SocketTimes;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.ZeroCopy;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/** A socket by its descriptor. Owner: as {@link TcpPort}. */
final class TcpNativePort extends TcpPort {
    private int fd;
    /** Of the last read; null without times. */
    private SocketTimes.Last times;
    /** For a read with times into one range. */
    private IoVector one;

    TcpNativePort(int fd) {
        this.fd = fd;
    }

    /** As {@link TcpNetwork#connect}. */
    static TcpNativePort connect(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
        int fd = keepsPort ? TcpSocket.connectFrom(local.toBytes(), remote.toBytes(), marks)
            : TcpSocket.connect(local.toBytes(), remote.toBytes(), marks);
        if (fd < 0) {
            throw new FabricException(-fd, "cannot connect " + local + " to " + remote + ": "
                + FabricErrno.name(-fd), "Check the address, the routes, and the limit of open files.");
        }
        return new TcpNativePort(fd);
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public SelectableChannel channel() {
        return null;
    }

    @Override
    boolean stamp(TimestampClock clock) {
        boolean ofCard = clock == TimestampClock.CARD;
        if (SocketTimes.enable(fd, ofCard, true, false) < 0) {
            return false;
        }
        times = new SocketTimes.Last(ofCard);
        one = new IoVector(1);
        return true;
    }

    @Override
    long timeNs() {
        return times.timeNs();
    }

    @Override
    public int connectError() {
        return TcpSocket.connectError(fd);
    }

    @Override
    public boolean isReset() {
        // a connection that was closed in order still has a peer name
        return TcpSocket.peerName(fd) == null;
    }

    @Override
    public SocketName localName() {
        byte[] image = TcpSocket.localName(fd);
        return image == null ? null : SocketName.ofBytes(image);
    }

    @Override
    public long send(long address, long length) {
        return TcpSocket.send(fd, address, length);
    }

    @Override
    public long receive(long address, long length) {
        return times == null ? TcpSocket.receive(fd, address, length) : receiveTimed(address, length);
    }

    private long receiveTimed(long address, long length) {
        one.clear();
        one.add(address, length);
        return TcpSocket.receiveTimed(fd, one, times);
    }

    @Override
    public long sendVector(IoVector vector) {
        return TcpSocket.sendVector(fd, vector);
    }

    @Override
    public long receiveVector(IoVector vector) {
        return times == null ? TcpSocket.receiveVector(fd, vector) : TcpSocket.receiveTimed(fd, vector, times);
    }

    @Override
    public long receiveError(IoVector vector) {
        return TcpSocket.receiveError(fd, vector);
    }

    @Override
    public TcpSocket.Health health() {
        return TcpSocket.health(fd);
    }

    @Override
    public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
        TcpSocket.keepAlive(fd, idleSeconds, intervalSeconds, probes);
    }

    @Override
    public void userTimeout(int milliseconds) {
        TcpSocket.userTimeout(fd, milliseconds);
    }

    @Override
    public void mark(SocketClass marks) {
        SocketName local = marks.equals(SocketClass.NONE) ? null : localName();
        if (local != null) {
            marks.apply(fd, local.isIn6());
        }
    }

    @Override
    int allowPinned() {
        return ZeroCopy.enable(fd);
    }

    @Override
    long sendPinned(IoVector vector) {
        return ZeroCopy.send(fd, vector);
    }

    @Override
    long sendBeforePinned(IoVector vector) {
        return ZeroCopy.sendBefore(fd, vector);
    }

    @Override
    int takeReports(ZeroCopy report, TcpPins pins) {
        int taken = 0;
        while (pins.isHeld() && report.next(fd)) {
            pins.onReport(report.first(), report.last(), report.isCopied());
            taken++;
        }
        return taken;
    }

    @Override
    void abort() {
        if (fd >= 0) {
            ZeroCopy.resetOnClose(fd);
        }
        close();
    }

    @Override
    public void close() {
        int open = fd;
        fd = -1;
        if (one != null) {
            one.close();
            one = null;
        }
        if (open >= 0) {
            TcpSocket.shutdown(open);
            SocketLibrary.close(open);
        }
    }
}
