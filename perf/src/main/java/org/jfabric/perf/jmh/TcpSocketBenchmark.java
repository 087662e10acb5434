package org.jfabric.perf.jmh;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.SocketName;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Bytes through a connection of the loopback interface, by native calls and by the JDK's channels: the basis of the tcp
 * link's choice ({@code jfabric.tcp.sockets}). One thread has both ends, so no thread sleeps.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TcpSocketBenchmark {
    private static final String ANY_PORT = SocketName.IN_SCHEME + "127.0.0.1:0";

    /** Bytes of a message. */
    @Param({"64", "16384"})
    public int sizeBytes;

    private final Arena arena = Arena.ofShared();
    private MemorySegment source;
    private MemorySegment destination;
    private ByteBuffer sourceBuffer;
    private ByteBuffer destinationBuffer;
    private int listenFd;
    private int sendFd;
    private int receiveFd;
    private SocketChannel sendChannel;
    private SocketChannel receiveChannel;

    /** Creates the state; {@link #open()} opens the sockets. */
    public TcpSocketBenchmark() {
    }

    /**
     * Opens two connections.
     *
     * @throws IOException if the system gives none.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        source = arena.allocate(sizeBytes, 64);
        destination = arena.allocate(sizeBytes, 64);
        sourceBuffer = source.asByteBuffer();
        destinationBuffer = destination.asByteBuffer();
        byte[] any = SocketName.parse(ANY_PORT).toBytes();
        listenFd = TcpSocket.listen(any, 1);
        sendFd = TcpSocket.connect(any, TcpSocket.localName(listenFd), SocketClass.NONE);
        do {
            receiveFd = TcpSocket.accept(listenFd);
        } while (receiveFd == -TcpSocket.EAGAIN);
        if (sendFd < 0 || receiveFd < 0) {
            throw new IOException("descriptors " + sendFd + ' ' + receiveFd + ", needed are 2");
        }
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            sendChannel = SocketChannel.open(server.getLocalAddress());
            receiveChannel = server.accept();
        }
        sendChannel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        sendChannel.configureBlocking(false);
        receiveChannel.configureBlocking(false);
    }

    /**
     * Closes them.
     *
     * @throws IOException never.
     */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        Libc.close(receiveFd);
        Libc.close(sendFd);
        Libc.close(listenFd);
        sendChannel.close();
        receiveChannel.close();
        arena.close();
    }

    /** One message by {@code send} and {@code recv}. */
    @Benchmark
    public long nativeMessage() {
        long sent = 0;
        long received = 0;
        while (received < sizeBytes) {
            if (sent < sizeBytes) {
                sent += Math.max(0, TcpSocket.send(sendFd, source.address() + sent, sizeBytes - sent));
            }
            received += Math.max(
                0, TcpSocket.receive(receiveFd, destination.address() + received, sizeBytes - received));
        }
        return received;
    }

    /**
     * The same by channels, with buffers that are there already.
     *
     * @throws IOException never.
     */
    @Benchmark
    public long nioMessage() throws IOException {
        sourceBuffer.clear();
        destinationBuffer.clear();
        while (destinationBuffer.hasRemaining()) {
            if (sourceBuffer.hasRemaining()) {
                sendChannel.write(sourceBuffer);
            }
            receiveChannel.read(destinationBuffer);
        }
        return destinationBuffer.position();
    }

    /** A read of a socket without data, as in each poll of the link. Returns {@link TcpSocket#FAILED}. */
    @Benchmark
    public long nativeEmptyReceive() {
        return TcpSocket.receive(receiveFd, destination.address(), sizeBytes);
    }

    /**
     * The same by a channel.
     *
     * @return 0.
     * @throws IOException never.
     */
    @Benchmark
    public long nioEmptyReceive() throws IOException {
        destinationBuffer.clear();
        return receiveChannel.read(destinationBuffer);
    }
}
