package org.jfabric.driver.link.udp.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.UdpSegments;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.SocketName;

/** A plain socket that hands several datagrams of one length to the system as one packet. */
final class Bursts implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MessageVector all = new MessageVector(1, 1);
    private final int fd;

    Bursts(SocketName own, SocketName to, int datagramBytes) {
        fd = UdpSocket.open(own.toBytes(), false);
        assertEquals(0, UdpSegments.set(fd, datagramBytes));
        byte[] name = to.toBytes();
        all.name(0, arena.allocateFrom(ValueLayout.JAVA_BYTE, name).address(), name.length);
        all.pieceCount(0, 1);
    }

    void send(long address, int bytes) {
        all.piece(0, 0, address, bytes);
        assertEquals(1, UdpSocket.send(fd, all, 1));
    }

    @Override
    public void close() {
        Libc.close(fd);
        arena.close();
    }
}
