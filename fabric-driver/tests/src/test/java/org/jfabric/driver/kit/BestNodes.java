package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;

/** Embedded drivers, some of which see one folder, with endpoints of link best; everything goes with {@link #close}. */
public final class BestNodes implements AutoCloseable {
    /** The name that endpoints with several links are asked for by. */
    public static final String LINK = "best";

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final List<Path> folders = new ArrayList<>();
    private final List<FabricDriver> drivers = new ArrayList<>();

    public BestNodes() {
        newFolder();
    }

    /** The folder of drivers that are launched without one. */
    public Path folder() {
        return folders.getFirst();
    }

    /** A folder of its own: drivers in it have no shared memory with those in others. */
    public Path newFolder() {
        folders.add(TestDirectory.create());
        return folders.getLast();
    }

    /** A driver with the usual links. */
    public FabricDriver launch(String name) {
        return launch(folder(), name);
    }

    /** A driver, with options as NAME=VALUE. */
    public FabricDriver launch(Path folder, String name, String... options) {
        DriverConfig.Builder config = DriverConfig.builder().directory(folder.resolve(name))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.tcp.interface", "lo");
        for (String option : options) {
            config.set(option.split("=")[0], option.split("=")[1]);
        }
        FabricDriver driver = FabricDriver.launchEmbedded(config.build());
        drivers.add(driver);
        resources.push(driver);
        return driver;
    }

    /** A driver without shared memory. */
    public FabricDriver launchWithoutShm(String name) {
        return launch(folder(), name, "jfabric.link.enabled=loopback,tcp");
    }

    /** Ends a driver before the others. */
    public void end(FabricDriver driver) {
        drivers.remove(driver);
        resources.remove(driver);
        driver.close();
    }

    /** From now on no other driver reaches that one by shared memory, as if it belonged to another user. */
    public static void refuseSharedMemory(Path driver) {
        Path socket = driver.resolve(DefaultDirectory.SOCKET_NAME);
        try {
            Files.move(socket, socket.resolveSibling("driver.sock.away"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public FabricNode node(FabricDriver driver) {
        return node(driver, LINK, FabricPair.usualHints());
    }

    public FabricNode node(FabricDriver driver, String link, Info hints) {
        Fabric fabric = driver.fabric();
        return new FabricNode(fabric, link, hints, 512, 0, this::pump);
    }

    /** Runs a cycle of each driver. */
    public void pump() {
        drivers.forEach(FabricDriver::cycle);
    }

    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        folders.forEach(TestDirectory::delete);
    }
}
