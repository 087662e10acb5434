package org.jfabric.driver.link.udp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;
import org.jfabric.layout.Words;

/**
 * A socket of the JDK, which receives datagrams one by one and allocates an object for each sender; for systems without
 * the native calls. Owner: as {@link UdpPort}.
 */
final class UdpNioPort extends UdpPort {
    private static final int MAX_DATAGRAM_BYTES = 65536;

    private final DatagramChannel channel;
    private final ByteBuffer buffer = BufferUtil.allocateDirectAligned(MAX_DATAGRAM_BYTES, BitUtil.CACHE_LINE_LENGTH);
    private final long bufferAddress = BufferUtil.address(buffer);

    private UdpNioPort(
        UdpNetwork network, DatagramChannel channel, SocketName name, InetAddress local, DriverConfig config) {
        super(network, name, local, config);
        this.channel = channel;
    }

    /** As {@link UdpNetwork#open}. */
    static UdpNioPort open(
        UdpNetwork network, SocketName wanted, InetAddress local, boolean shared, DriverConfig config) {
        DatagramChannel channel = null;
        try {
            channel = DatagramChannel.open(
                wanted.isIn6() ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, shared);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, config.get(UdpConfig.BUFFER_BYTES));
            channel.setOption(StandardSocketOptions.SO_SNDBUF, config.get(UdpConfig.BUFFER_BYTES));
            NetworkInterface networkInterface = NetworkInterface.getByInetAddress(local);
            if (networkInterface != null) {
                channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, networkInterface);
            }
            channel.bind(new InetSocketAddress(wanted.inetAddress(), wanted.port()));
            return new UdpNioPort(network, channel, SocketName.of((InetSocketAddress) channel.getLocalAddress()), local,
                config);
        } catch (IOException ex) {
            closeQuietly(channel);
            throw new NativeCallException("bind", FabricErrno.EADDRNOTAVAIL,
                "the address is " + wanted + ": " + ex.getMessage());
        }
    }

    @Override
    protected int[] descriptors() {
        return new int[0];
    }

    @Override
    protected int receive(MessageVector vector, int count) {
        int received = 0;
        try {
            while (received < count) {
                InetSocketAddress sender = (InetSocketAddress) channel.receive(buffer.clear());
                if (sender == null) {
                    break;
                }
                byte[] name = SocketName.of(sender).toBytes();
                for (int i = 0; i < name.length; i++) {
                    UnsafeApi.putByte(vector.nameAddress(received) + i, name[i]);
                }
                int length = (int) Math.min(buffer.position(), vector.pieceLength(received, 0));
                Words.copy(bufferAddress, vector.pieceAddress(received, 0), length);
                vector.transferred(received++, length);
            }
        } catch (IOException ex) {
            // as with the native calls: no datagram is available
            return received;
        }
        return received;
    }

    @Override
    public int send(MessageVector vector, int count) {
        for (int i = 0; i < count; i++) {
            int result = sendOne(vector, i);
            if (result != 0) {
                return i == 0 ? result : i;
            }
        }
        return count;
    }

    private int sendOne(MessageVector vector, int index) {
        int length = 0;
        for (int piece = 0; piece < vector.pieceCount(index); piece++) {
            int bytes = (int) vector.pieceLength(index, piece);
            Words.copy(vector.pieceAddress(index, piece), bufferAddress + length, bytes);
            length += bytes;
        }
        byte[] name = new byte[vector.nameLength(index)];
        for (int i = 0; i < name.length; i++) {
            name[i] = UnsafeApi.getByte(vector.namePointer(index) + i);
        }
        SocketName to = SocketName.ofBytes(name);
        try {
            int sent = channel.send(
                buffer.clear().limit(length), new InetSocketAddress(to.inetAddress(), to.port()));
            return sent == 0 && length != 0 ? -FabricErrno.EAGAIN : 0;
        } catch (IOException ex) {
            return -FabricErrno.EIO;
        }
    }

    /** The code point alone: the JDK has no option for the queue of the interface. */
    @Override
    protected void mark(SocketClass marks) {
        try {
            if (!marks.equals(SocketClass.NONE)) {
                channel.setOption(StandardSocketOptions.IP_TOS, marks.tos());
            }
        } catch (IOException ex) {
            throw new IllegalStateException("packets cannot be marked", ex);
        }
    }

    @Override
    protected int joinGroup(SocketName group) {
        try {
            NetworkInterface networkInterface = NetworkInterface.getByInetAddress(local());
            if (networkInterface == null) {
                return -FabricErrno.ENODEV;
            }
            channel.join(group.inetAddress(), networkInterface);
            return 0;
        } catch (IOException | IllegalArgumentException ex) {
            return -FabricErrno.EINVAL;
        }
    }

    @Override
    public void close() {
        closeQuietly(channel);
    }

    private static void closeQuietly(DatagramChannel open) {
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException ex) {
            throw new IllegalStateException("a socket cannot be closed", ex);
        }
    }
}
