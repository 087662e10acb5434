package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Run by the launcher to make an AOT cache: plain messages over shm and tcp between two embedded drivers, and to
 * oneself through a driver with a thread of its own, often enough that the virtual machine has profiles of their way.
 *
 * <p>One process, because all that it starts would write the same cache. One thread sends and receives, so that no
 * message waits for the scheduler.
 */
@Command(name = TrainingCommand.NAME, hidden = true, description = "Trains an AOT cache; not for users.")
final class TrainingCommand implements Callable<Integer> {
    static final String NAME = "aot-training";

    private static final int SIZE_BYTES = 64;
    private static final int CHUNK = 64;
    private static final String LOOPBACK_INTERFACE = "lo";
    private static final long CONNECT_NS = 30_000_000_000L;
    private static final String PING = PingPongRole.PING.text();
    private static final String PONG = PingPongRole.PONG.text();

    @Option(names = "--messages", defaultValue = "100000", description = "Over shm; the others have fewer.")
    private int messages;
    @Option(names = "--seconds", defaultValue = "5", description = "After which a part of the training ends.")
    private int seconds;

    TrainingCommand() {
    }

    @Override
    public Integer call() {
        NativeAccess.check();
        if (System.getProperty(TcpConfig.INTERFACE.name()) == null) {
            System.setProperty(TcpConfig.INTERFACE.name(), LOOPBACK_INTERFACE);
        }
        try (TemporaryDirectory directory = TemporaryDirectory.create(SIZE_BYTES)) {
            between(directory.path(), PingPongPlan.SHM, messages);
            toOneself(directory.path(), messages / 10);
            try {
                between(directory.path(), PingPongPlan.TCP, messages / 10);
            } catch (FabricException ex) {
                // a host without tcp has a cache for the rest
                System.err.println(ex.getMessage());
            }
            daemon(directory.path().resolve("served"));
        }
        return 0;
    }

    /** The commands that start a driver and end it, as users give them. */
    private static void daemon(Path directory) {
        FabricTool.commandLine();
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        int[] status = {-1};
        Thread driver = new Thread(
            () -> status[0] = FabricTool.run(out, out, "driver", "--dir", directory.toString()), "trained driver");
        driver.start();
        try {
            Fabric.connect(new FabricConfig().directory(directory).connectTimeoutNs(CONNECT_NS)).close();
            int drained = FabricTool.run(out, out, "drain", "--dir", directory.toString());
            driver.join();
            if (drained != 0 || status[0] != 0) {
                throw new ToolException("The driver of the training ended with " + status[0] + ", its drain with "
                    + drained + '.');
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private void between(Path base, String link, int count) {
        Path pingDriver = base.resolve(link + '-' + PING);
        Path pongDriver = base.resolve(link + '-' + PONG);
        try (PingPongFabric ping = PingPongFabric.application(
                pingDriver, ThreadingMode.INVOKER, link, SIZE_BYTES, PING);
            PingPongFabric pong = PingPongFabric.application(
                pongDriver, ThreadingMode.INVOKER, link, SIZE_BYTES, PONG)) {
            PingPongLoop one = loop(ping, ping.peer(pongDriver.getFileName().toString(), PONG));
            PingPongLoop other = loop(pong, pong.peer(pingDriver.getFileName().toString(), PING));
            exchange(one, other, count);
        }
    }

    private void toOneself(Path base, int count) {
        Path daemon = base.resolve("daemon");
        PingPongFabric driver = PingPongFabric.daemon(daemon, ThreadingMode.SHARED, PingPongPlan.LOOPBACK);
        try (PingPongFabric self = PingPongFabric.application(
                daemon, null, PingPongPlan.LOOPBACK, SIZE_BYTES, PING)) {
            PingPongLoop loop = loop(self, self.peer(daemon.getFileName().toString(), PING));
            exchange(loop, loop, count);
        } finally {
            driver.close();
        }
    }

    private static PingPongLoop loop(PingPongFabric fabric, long peer) {
        return new PingPongLoop(fabric.endpoint(), fabric.queue(), peer, fabric.receiveRegion().address(0),
            fabric.sendRegion().address(0), SIZE_BYTES, false);
    }

    private void exchange(PingPongLoop one, PingPongLoop other, int count) {
        long begin = System.nanoTime();
        long limitNs = seconds * 1_000_000_000L;
        for (int done = 0; done < count && System.nanoTime() - begin < limitNs; done += CHUNK) {
            for (int i = 0; i < CHUNK; i += 2) {
                message(one, other, begin + limitNs);
                message(other, one, begin + limitNs);
            }
        }
    }

    /**
     * Polls both sides: a message over tcp, and the first one of each connection, also needs progress of its sender.
     */
    private static void message(PingPongLoop from, PingPongLoop to, long deadlineNs) {
        long before = to.received();
        check(to.arm());
        check(from.postSend());
        while (to.received() == before) {
            check(to.cycle());
            check(from.cycle());
            if (System.nanoTime() - deadlineNs > 0) {
                throw new ToolException("A message of the training did not arrive in time.");
            }
        }
    }

    private static void check(int result) {
        if (result != 0) {
            throw new ToolException("A transfer of the training failed with " + FabricErrno.name(-result) + '.');
        }
    }
}
