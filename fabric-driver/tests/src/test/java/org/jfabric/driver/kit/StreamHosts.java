package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.TestDirectory;

/** Two drivers that have nothing but a socket in common: {@code alpha} writes streams, {@code beta} reads them. */
public final class StreamHosts implements AutoCloseable {
    public final Path base = TestDirectory.create();
    public int port = NumberedMessages.freePort();
    private String name = "quotes";
    public Fabric writing;
    public Fabric reading;
    private final List<AutoCloseable> open = new ArrayList<>();
    private DriverProcess alpha;
    private DriverProcess beta;
    private boolean isAlphaPlain;
    private boolean isBetaPlain;

    /** Starts both. */
    public StreamHosts() {
        this(new String[0], new String[0]);
    }

    public StreamHosts(String[] ofWriter, String[] ofReader) {
        start(ofWriter, ofReader);
    }

    private void start(String[] ofWriter, String[] ofReader) {
        alpha = launch("alpha", ofWriter);
        beta = launch("beta", ofReader);
        isAlphaPlain = ofWriter.length == 0;
        isBetaPlain = ofReader.length == 0;
        writing = connect(alpha);
        reading = connect(beta);
    }

    /** A file of keys of groups. */
    public static Path keys(Path file, String... keys) {
        try {
            Files.writeString(file, String.join("\n", keys));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    /** Another driver, which the caller closes. */
    public DriverProcess launch(String name, String... options) {
        List<String> all = new ArrayList<>(List.of(
            "jfabric.shm.groupRingLengthBytes=64k", "jfabric.link.enabled=loopback,shm,tcp,udp",
            "jfabric.udp.streamSilenceNs=2s"));
        all.addAll(List.of(options));
        return DriverProcess.launch(base.resolve(name), all.toArray(String[]::new));
    }

    public static Fabric connect(DriverProcess driver) {
        return Fabric.connect(new FabricConfig().directory(driver.awaitReady().directory()));
    }

    /** Closes what was kept, and starts both drivers again. */
    public void restart(String[] ofWriter, String[] ofReader) {
        end();
        start(ofWriter, ofReader);
    }

    /** Starts both again unless both run, without options. */
    public void ready() {
        if (!isAlphaPlain || !isBetaPlain) {
            restart(new String[0], new String[0]);
        }
    }

    /** Kills the writing driver. What its client has open is useless now. */
    public void killWriter(AutoCloseable... useless) {
        alpha.kill();
        isAlphaPlain = false;
        open.removeAll(List.of(useless));
        writing.close();
    }

    public void startWriter(String... options) {
        alpha = launch("alpha", options);
        isAlphaPlain = options.length == 0;
        writing = connect(alpha);
    }

    public void closeWriter() {
        isAlphaPlain = false;
        alpha.close();
    }

    /** As {@link #killWriter}. */
    public void killReader(AutoCloseable... useless) {
        beta.kill();
        isBetaPlain = false;
        open.removeAll(List.of(useless));
        reading.close();
    }

    public void startReader(String... options) {
        beta = launch("beta", options);
        isBetaPlain = options.length == 0;
        reading = connect(beta);
    }

    /** Closed before the drivers. */
    public <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    public Publication.Builder publication(String address) {
        return Publication.on(writing, address).onNetwork("127.0.0.1:" + port);
    }

    public Publication.Builder publication() {
        return publication(group());
    }

    public Subscription.Builder subscription() {
        return subscription(port);
    }

    /** By a relay perhaps. */
    public Subscription.Builder subscription(int at) {
        return Subscription.on(reading, stream(at));
    }

    /** Address of the group on its own host. */
    public String group() {
        return "jfabric://alpha/" + name;
    }

    /** Its address on other hosts, by a relay perhaps. */
    public String stream(int at) {
        return "stream://127.0.0.1:" + at + '/' + name;
    }

    /**
     * Closes what was kept, but not the drivers. Streams that follow have another name and port: the one before may
     * still wait for a host that has left in the middle of joining.
     */
    public void renew() {
        closeKept();
        port = NumberedMessages.freePort();
        name = "quotes-" + port;
    }

    private void closeKept() {
        try {
            for (AutoCloseable each : open.reversed()) {
                each.close();
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        open.clear();
    }

    private void end() {
        closeKept();
        writing.close();
        reading.close();
        alpha.close();
        beta.close();
    }

    @Override
    public void close() {
        end();
        TestDirectory.delete(base);
    }
}
