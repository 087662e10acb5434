package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.jfabric.Domain;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.SocketEndpoint;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DescriptorLimit;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Socket endpoints of a process that has as many open files as it may. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SocketDescriptorsTest {
    /** The process. Nothing is loaded while there are no descriptors, which even classes of a folder need. */
    static final class Starved {
        private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        private final EventEntry entry = new EventEntry();
        private final Fabric fabric;
        private final EventQueue events;
        private final Info streams;

        private Starved(Fabric fabric) {
            this.fabric = fabric;
            events = fabric.openEventQueue(new EventQueueAttr());
            Info hints = new Info();
            hints.epAttr().type(EndpointType.SOCK_STREAM);
            streams = fabric.info(hints).best().srcAddr("fi_sockaddr_in://127.0.0.1:0");
        }

        public static void main(String[] arguments) throws IOException {
            DriverConfig config = DriverConfig.builder().directory(Path.of(arguments[0]))
                .threadingMode(ThreadingMode.INVOKER).build();
            try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
                new Starved(fabric).run();
            }
        }

        private void run() throws IOException {
            // everything once before, in a domain with a thread of its own
            SocketEndpoint before = passive();
            before.listen();
            try (SocketChannel channel = SocketChannel.open(address(before.name()))) {
                awaitRequest();
                before.reject(entry.info().handle());
                channel.socket().getInputStream().read();
            }
            SocketEndpoint passive = passive();
            listenErrno(before);
            write("limit me");

            int errno = listenErrno(passive);
            write("free me");
            System.out.println("errno " + errno);
            passive.listen();
            System.out.println("name " + passive.name());
            write("limit again");

            System.out.println("empty " + events.read(entry, 0));
            write("free again");
            awaitRequest();
            System.out.println("asked " + (entry.fid() == passive));
        }

        private SocketEndpoint passive() {
            Domain domain = fabric.domain(streams);
            SocketEndpoint passive = domain.openPassiveSocketEndpoint(streams, 0);
            passive.bind(events, 0);
            return passive;
        }

        private static int listenErrno(SocketEndpoint passive) {
            try {
                passive.listen();
                return 0;
            } catch (FabricException refused) {
                return refused.errno();
            }
        }

        private void awaitRequest() {
            Deadline.await("request", () -> events.read(entry, 0) == 1, () -> events);
            if (entry.type() != EventType.CONNREQ) {
                throw new AssertionError(entry);
            }
        }

        private void write(String what) throws IOException {
            System.out.println(what);
            in.readLine();
        }
    }

    private static InetSocketAddress address(String name) {
        SocketName at = SocketName.parse(name);
        return new InetSocketAddress(at.inetAddress(), at.port());
    }

    @Test
    void shouldListenAndAcceptWhenThereAreDescriptorsAgain() throws Exception {
        DescriptorLimit.assumeChangeable();
        Path base = TestDirectory.create();
        try (TestProcess process = TestJvm.start(Starved.class, base.resolve("driver").toString())) {
            process.awaitLine("limit me");
            // one for the socket, none to watch it with
            DescriptorLimit.set(process.pid(), DescriptorLimit.firstFree(process.pid()) + 1);
            process.say("limited");
            process.awaitLine("free me");
            DescriptorLimit.set(process.pid(), 1000);
            process.say("free");
            assertEquals("" + FabricErrno.EMFILE, process.hear("errno"));
            String name = process.hear("name");
            process.awaitLine("limit again");
            DescriptorLimit.set(process.pid(), DescriptorLimit.firstFree(process.pid()));
            try (SocketChannel channel = SocketChannel.open(address(name))) {
                process.say("limited");
                assertEquals("-" + FabricErrno.EAGAIN, process.hear("empty"));
                process.awaitLine("free again");
                DescriptorLimit.set(process.pid(), 1000);
                process.say("free");
                assertEquals("true", process.hear("asked"));
                assertTrue(channel.isConnected());
            }
            process.succeeded();
        }
        TestDirectory.delete(base);
    }
}
