package org.jfabric.samples.echo;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jfabric.Domain;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.SocketEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.info.WaitObject;

/**
 * An echo server, ported from {@code ServerSocketChannel}; its client is still a {@code SocketChannel}. Experimental,
 * as socket endpoints are.
 */
public final class SocketEcho {
    private static final long WAIT_NS = 10_000_000_000L;
    private static final int ROOM = 4096;

    private SocketEcho() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     * @throws IOException of the client's channel.
     */
    public static void main(String[] args) throws IOException {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "echo-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        Info hints = new Info();
        hints.epAttr().type(EndpointType.SOCK_STREAM);
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Info info = fabric.info(hints).best().srcAddr("fi_sockaddr_in://127.0.0.1:0");
            Domain domain = fabric.domain(info);
            EventQueue events = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.UNSPEC));
            SocketEndpoint passive = domain.openPassiveSocketEndpoint(info, 0);
            passive.bind(events, 0);
            passive.listen();

            try (SocketChannel client = SocketChannel.open(address(passive.name()))) {
                client.write(ByteBuffer.wrap("the same again".getBytes(StandardCharsets.US_ASCII)));
                client.shutdownOutput();
                SocketEndpoint server = accept(domain, events);
                echo(server);
                server.shutdown();
                ByteBuffer answer = ByteBuffer.allocate(ROOM);
                while (client.read(answer) >= 0) {
                    Thread.onSpinWait();
                }
                System.out.println(new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII));
            }
        }
    }

    private static SocketEndpoint accept(Domain domain, EventQueue events) {
        EventEntry event = new EventEntry();
        if (events.sread(event, WAIT_NS, 0) != 1 || event.type() != EventType.CONNREQ) {
            throw new IllegalStateException("no connection was requested: " + event);
        }
        SocketEndpoint server = domain.openSocketEndpoint(event.info(), 0);
        server.bind(events, 0);
        server.enable();
        server.accept();
        return server;
    }

    /** Until the end of the stream. */
    private static void echo(SocketEndpoint server) {
        try (Arena arena = Arena.ofConfined()) {
            // native memory as it is: a socket needs no registered memory
            long buffer = arena.allocate(ROOM).address();
            for (long count; (count = server.recv(buffer, ROOM)) != 0;) {
                long sent = 0;
                while (sent < checked(count)) {
                    sent += checked(server.send(buffer + sent, count - sent, 0));
                }
            }
        }
    }

    /** The bytes, 0 if it has to be tried again. */
    private static long checked(long result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new FabricException((int) -result, "the transfer failed", "Check that the peer runs.");
        }
        return Math.max(0, result);
    }

    private static InetSocketAddress address(String name) {
        SocketName socket = SocketName.parse(name);
        return new InetSocketAddress(socket.inetAddress(), socket.port());
    }
}
