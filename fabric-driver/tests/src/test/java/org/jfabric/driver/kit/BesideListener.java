package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * With {@code -Djfabric.test.beside=true}: beside each class of tests a thread opens and closes drivers, fabrics,
 * endpoints, descriptors, threads, processes and system properties. A class that counts or changes what belongs to the
 * whole JVM fails then, unless it is {@link Isolated}: beside such a class the thread rests.
 */
public final class BesideListener implements TestExecutionListener {
    private static final boolean IS_WANTED = Boolean.getBoolean("jfabric.test.beside");
    private static final long PAUSE_NS = 20_000_000;

    private final ReentrantLock rest = new ReentrantLock(true);
    private volatile boolean isOver;
    private long rounds;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (IS_WANTED) {
            Thread.ofPlatform().daemon().name("beside all tests").start(this::run);
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        isOver = true;
        rest.lock();
        if (IS_WANTED) {
            System.out.println("beside all tests: " + rounds + " rounds");
        }
        rest.unlock();
    }

    @Override
    public void executionStarted(TestIdentifier identifier) {
        if (isIsolated(identifier)) {
            rest.lock();
        }
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        if (isIsolated(identifier)) {
            rest.unlock();
        }
    }

    private static boolean isIsolated(TestIdentifier identifier) {
        return IS_WANTED && identifier.getSource().orElse(null) instanceof ClassSource source
            && AnnotationSupport.isAnnotated(source.getJavaClass(), Isolated.class);
    }

    private void run() {
        while (!isOver) {
            rest.lock();
            try {
                if (!isOver) {
                    round();
                    rounds++;
                }
            } finally {
                rest.unlock();
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private void round() {
        Path directory = TestDirectory.create();
        System.setProperty("jfabric.test.besideRound", Long.toString(rounds));
        ThreadingMode mode = rounds % 2 == 0 ? ThreadingMode.INVOKER : ThreadingMode.SHARED;
        try (FabricDriver driver = FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(directory.resolve("beside")).threadingMode(mode).build());
            Fabric own = driver.fabric();
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            TestProcess process = TestProcess.start(List.of("sleep", "1000"))) {
            if (!socket.isBound() || !process.isAlive()) {
                throw new AssertionError(socket + ", " + process);
            }
            for (String link : List.of("loopback", "shm", "tcp")) {
                new FabricNode(own, link, new Info().caps(Flags.TAGGED), 16, 0, driver::cycle);
            }
            if (mode == ThreadingMode.SHARED) {
                try (Fabric client = Fabric.connect(new FabricConfig().directory(driver.directory())
                    .reconnectTimeoutNs(FabricNode.DEADLINE_NS))) {
                    new FabricNode(client, "loopback", new Info().caps(Flags.TAGGED), 16, 0, () -> { });
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            System.clearProperty("jfabric.test.besideRound");
            TestDirectory.delete(directory);
        }
    }
}
