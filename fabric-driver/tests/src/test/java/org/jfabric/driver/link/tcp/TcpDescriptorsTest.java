package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.DescriptorLimit;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that has as many open files as it may. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TcpDescriptorsTest {
    private static final int WAITING = 3;

    /** The process. Nothing is loaded while there are no descriptors, which even classes of a folder need. */
    static final class Starved {
        private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        private final TcpNode victim = new TcpNode();
        private final TcpNode bystander = new TcpNode();
        private Recorder good;
        private Recorder seen;

        public static void main(String[] arguments) throws IOException {
            new Starved().run();
        }

        private void run() throws IOException {
            good = bystander.connect(victim.address());
            seen = victim.handler(bystander.address());
            await(() -> good.ups == 1 && seen.ups == 1);
            exchange();
            // everything once before
            Recorder refused = victim.connect("fi_sockaddr_in://127.0.0.1:1");
            await(() -> refused.downs == 1);
            victim.onError(new FabricException(FabricErrno.EMFILE, FabricErrno.name(FabricErrno.EMFILE), "none"));
            victim.errors.clear();
            victim.link.arm();
            listenErrno();
            List<SocketChannel> sockets = new ArrayList<>();
            for (int i = 0; i < WAITING; i++) {
                sockets.add(SocketChannel.open());
            }
            write("limit me");

            for (SocketChannel socket : sockets) {
                socket.connect(new InetSocketAddress(victim.name().inetAddress(), victim.name().port()));
            }
            int before = victim.link.watched().size();
            await(() -> !victim.errors.isEmpty());
            long begun = System.nanoTime();
            int quiet = 0;
            for (int i = 0; i < 1000; i++) {
                quiet += victim.step() == 0 ? 1 : 0;
            }
            long pauses = 2 + (System.nanoTime() - begun) / 100_000_000L;
            int errors = victim.errors.size();
            boolean canSleep = victim.link.arm();
            Recorder dialed = victim.connect("fi_sockaddr_in://127.0.0.1:2");
            await(() -> dialed.downs == 1);
            int listen = listenErrno();
            exchange();
            int watched = victim.link.watched().size();
            write("free me");

            System.out.println("errno " + ((FabricException) victim.errors.getFirst()).errno());
            System.out.println("paced " + (errors <= pauses && quiet >= 1000 - 40 * pauses && canSleep) + ' ' + errors
                + " errors in " + pauses + " pauses, quiet " + quiet);
            System.out.println("dial " + dialed.downErrno);
            System.out.println("listen " + listen);
            System.out.println("taken " + (watched - before));
            await(() -> victim.link.watched().size() == before + WAITING);
            Recorder again = victim.connect("fi_sockaddr_in://127.0.0.1:1");
            await(() -> again.downs == 2);
            System.out.println("dial " + again.downErrno);
            exchange();
            System.out.println("lost " + (good.downs + seen.downs));
        }

        private int listenErrno() {
            try {
                new TcpLinkProvider().bind(new Info(), DriverConfig.builder()
                    .set("jfabric.tcp.interface", "127.0.0.1").build()).close();
                return 0;
            } catch (FabricException e) {
                return e.errno();
            }
        }

        private void exchange() {
            int before = seen.messages.size();
            bystander.send(good.channel, 1, 5000, 5);
            await(() -> seen.messages.size() == before + 1);
        }

        private void await(BooleanSupplier condition) {
            while (!condition.getAsBoolean()) {
                if (victim.step() + bystander.step() == 0) {
                    Thread.yield();
                }
            }
        }

        private void write(String what) throws IOException {
            System.out.println(what);
            in.readLine();
        }
    }

    @Test
    void shouldSayWhatIsMissingKeepQuietAndGoOnWhenDescriptorsAreFree() throws Exception {
        DescriptorLimit.assumeChangeable();
        try (TestProcess process = TestJvm.start(Starved.class)) {
            process.awaitLine("limit me");
            DescriptorLimit.set(process.pid(), DescriptorLimit.firstFree(process.pid()));
            process.say("limited");
            process.awaitLine("free me");
            DescriptorLimit.set(process.pid(), 1000);
            process.say("free");
            assertEquals("" + FabricErrno.EMFILE, process.hear("errno"));
            String paced = process.hear("paced");
            assertTrue(paced.startsWith("true"), paced);
            assertEquals("" + FabricErrno.EMFILE, process.hear("dial"));
            assertEquals("" + FabricErrno.EMFILE, process.hear("listen"));
            assertEquals("0", process.hear("taken"));
            assertEquals("" + FabricErrno.ECONNREFUSED, process.hear("dial"));
            assertEquals("0", process.hear("lost"));
            process.succeeded();
        }
    }
}
