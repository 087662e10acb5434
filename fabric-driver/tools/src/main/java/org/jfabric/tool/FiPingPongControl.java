package org.jfabric.tool;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.SocketName;

/**
 * The connection over which the two sides exchange their addresses and keep in step.
 *
 * <pre>
 *   name     u32 big endian: bytes | u32 native: address format | address
 *   "q\0" and "a\0"                before each size, client first
 *   10 bytes decimal and "cnt ok\0" behind each size: the client's number of iterations
 * </pre>
 *
 * <p>The C program fetches each item with one read of exactly its length, so each is written in one call. While this
 * side waits the data path makes progress. Owner: one thread.
 */
final class FiPingPongControl implements AutoCloseable {
    /** Port of the server if none is given. */
    static final int PORT = 47592;

    private static final int MAX_NAME_BYTES = 1024;
    private static final int COUNT_BYTES = 10;
    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long SPIN_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final byte[] SYNC = text("q");
    private static final byte[] SYNC_ANSWER = text("a");
    private static final byte[] COUNT_ANSWER = text("cnt ok");

    private final SocketChannel channel;
    private Runnable meanwhile = () -> { };

    private FiPingPongControl(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    /**
     * Waits for the client; there is one in each run.
     *
     * @param listening called with the port as soon as clients can connect to it.
     */
    static FiPingPongControl accept(int port, boolean ipv6, IntConsumer listening) {
        try (ServerSocketChannel server = ServerSocketChannel.open(
            ipv6 ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET)) {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(new InetSocketAddress(ipv6 ? "::" : "0.0.0.0", port));
            listening.accept(port);
            return new FiPingPongControl(server.accept());
        } catch (BindException ex) {
            throw new ToolException("Port " + port + " for the control connection is taken (" + ex.getMessage()
                + "); choose another with -B, and with -P at the client.", ex);
        } catch (IOException ex) {
            throw new ToolException("The control connection failed: " + ex.getMessage() + '.', ex);
        }
    }

    /** Connects to the server, which may be about to start: it is waited for a few seconds, at most for the limit. */
    static FiPingPongControl connect(String host, int port, int sourcePort, long limitNs) {
        InetSocketAddress server = new InetSocketAddress(host, port);
        if (server.isUnresolved()) {
            throw new ToolException("The host " + host + " is not known.");
        }
        long end = System.nanoTime() + Math.min(CONNECT_NS, limitNs);
        while (true) {
            try {
                return open(server, sourcePort);
            } catch (ConnectException ex) {
                if (System.nanoTime() - end > 0) {
                    throw new ToolException("No server answers at " + host + " port " + port + " (" + ex.getMessage()
                        + "); start it first, with the same options and no host.", ex);
                }
                LockSupport.parkNanos(RETRY_NS);
            } catch (IOException ex) {
                throw new ToolException("The control connection to " + host + " port " + port + " failed: "
                    + ex.getMessage() + '.', ex);
            }
        }
    }

    private static FiPingPongControl open(InetSocketAddress server, int sourcePort) throws IOException {
        SocketChannel channel = SocketChannel.open();
        boolean open = false;
        try {
            if (sourcePort != 0) {
                channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                channel.bind(new InetSocketAddress(sourcePort));
            }
            channel.connect(server);
            FiPingPongControl result = new FiPingPongControl(channel);
            open = true;
            return result;
        } finally {
            if (!open) {
                channel.close();
            }
        }
    }

    /** Sets a task that is run repeatedly while this side waits. */
    void meanwhile(Runnable cycle) {
        meanwhile = cycle;
    }

    /** The address of this host that the other side talks to. */
    InetAddress localAddress() {
        try {
            return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
        } catch (IOException ex) {
            throw lost(ex.getMessage(), ex);
        }
    }

    /** Sends the address of our endpoint. */
    void sendName(String name) {
        byte[] image;
        AddressFormat format;
        if (SocketName.isName(name)) {
            image = SocketName.parse(name).toBytes();
            format = SocketName.parse(name).format();
        } else if (IbUdName.isName(name)) {
            image = IbUdName.parse(name).toBytes();
            format = AddressFormat.ADDR_IB_UD;
        } else {
            image = text(name);
            format = AddressFormat.ADDR_STR;
        }
        write(ByteBuffer.allocate(Integer.BYTES).putInt(image.length).array());
        write(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(format.code()).array());
        write(image);
    }

    /** Takes the address of the other side's endpoint. */
    String receiveName() {
        int length = ByteBuffer.wrap(read(Integer.BYTES, "the length of the other side's address")).getInt();
        if (length < 1 || length > MAX_NAME_BYTES) {
            throw new ToolException("The other side announced an address of " + length + " bytes, possible are 1 to "
                + MAX_NAME_BYTES + "; is it fi_pingpong?");
        }
        int format = ByteBuffer.wrap(read(Integer.BYTES, "the format of the other side's address"))
            .order(ByteOrder.nativeOrder()).getInt();
        byte[] image = read(length, "the other side's address");
        if (format == AddressFormat.ADDR_STR.code()) {
            int end = length;
            while (end > 0 && image[end - 1] == 0) {
                end--;
            }
            return new String(image, 0, end, StandardCharsets.US_ASCII);
        }
        try {
            return format == AddressFormat.ADDR_IB_UD.code() ? IbUdName.ofBytes(image).toString()
                : SocketName.ofBytes(image).toString();
        } catch (FabricException ex) {
            throw new ToolException("The other side's address has format " + format + " and " + length + " bytes ("
                + ex.getMessage() + ").", ex);
        }
    }

    /** Waits until both are ready for the next size. */
    void sync(boolean isClient) {
        if (isClient) {
            write(SYNC);
            expect(SYNC_ANSWER, "the answer to the start of a size");
        } else {
            expect(SYNC, "the start of a size");
            write(SYNC_ANSWER);
        }
    }

    /** Compares the number of messages. */
    void exchangeCount(boolean isClient, long count) {
        if (isClient) {
            write(Arrays.copyOf(Long.toString(count).getBytes(StandardCharsets.US_ASCII), COUNT_BYTES));
            expect(COUNT_ANSWER, "the answer to the number of messages");
            return;
        }
        String theirs = new String(read(COUNT_BYTES, "the number of messages"), StandardCharsets.US_ASCII).trim();
        if (!theirs.equals(Long.toString(count))) {
            throw new ToolException("The other side exchanged " + theirs + " messages and this one " + count
                + "; give both the same -I.");
        }
        write(COUNT_ANSWER);
    }

    /** Signals that this side has no messages left, and waits for the same signal of the other side, for a while. */
    void awaitEnd(long timeoutNs) {
        ByteBuffer one = ByteBuffer.allocate(1);
        long begin = System.nanoTime();
        try {
            channel.shutdownOutput();
            while (channel.read(one.clear()) >= 0 && System.nanoTime() - begin < timeoutNs) {
                pause(begin);
            }
        } catch (IOException ex) {
            // a reset is an end as well
            return;
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException ex) {
            throw lost(ex.getMessage(), ex);
        }
    }

    private void expect(byte[] wanted, String what) {
        byte[] seen = read(wanted.length, what);
        if (!Arrays.equals(wanted, seen)) {
            throw new ToolException("Instead of " + what + " the other side sent " + Arrays.toString(seen)
                + "; give both sides the same options.");
        }
    }

    private byte[] read(int length, String what) {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        long begin = System.nanoTime();
        try {
            while (buffer.hasRemaining()) {
                int read = channel.read(buffer);
                if (read < 0) {
                    throw lost("it ended where " + what + " should have come", null);
                }
                if (read == 0) {
                    pause(begin);
                }
            }
        } catch (IOException ex) {
            throw lost(ex.getMessage(), ex);
        }
        return buffer.array();
    }

    private void write(byte[] item) {
        ByteBuffer buffer = ByteBuffer.wrap(item);
        long begin = System.nanoTime();
        try {
            while (buffer.hasRemaining()) {
                if (channel.write(buffer) == 0) {
                    pause(begin);
                }
            }
        } catch (IOException ex) {
            throw lost(ex.getMessage(), ex);
        }
    }

    private void pause(long begin) {
        meanwhile.run();
        if (System.nanoTime() - begin > SPIN_NS) {
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static ToolException lost(String reason, Exception cause) {
        return new ToolException("The control connection is lost: " + reason + "; the other side has the reason.",
            cause);
    }

    private static byte[] text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Arrays.copyOf(bytes, bytes.length + 1);
    }
}
