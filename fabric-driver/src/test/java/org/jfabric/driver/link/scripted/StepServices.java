package org.jfabric.driver.link.scripted;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.layout.OwnerId;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The services of a driver for links that need only its clock, which is the script's, and its error log. */
public final class StepServices extends LinkServices {
    /** How long a step is. */
    public static final long STEP_NS = 1_000_000;

    /** What links have reported. */
    public final List<Throwable> errors = new ArrayList<>();
    private final Map<String, UnsafeBuffer> counters = new HashMap<>();
    private final Script script;

    /**
     * Services of one driver.
     *
     * @param script whose steps are its time.
     */
    public StepServices(Script script) {
        this.script = script;
    }

    @Override
    public void onError(Throwable error) {
        errors.add(error);
    }

    @Override
    public long nowNs() {
        return script.step() * STEP_NS;
    }

    @Override
    public Path directory() {
        // links name it, and no test has files in it
        return Path.of("/no-files");
    }

    @Override
    public int directoryFd() {
        throw notHere();
    }

    @Override
    public String driverName() {
        return "rig";
    }

    @Override
    public OwnerId ownerId() {
        throw notHere();
    }

    @Override
    public long nextFileNumber() {
        throw notHere();
    }

    @Override
    public void submit(ResourceTask task) {
        throw notHere();
    }

    @Override
    public void watch(int fd, DescriptorHandler handler) {
        throw notHere();
    }

    @Override
    public void rearm(int fd) {
        throw notHere();
    }

    @Override
    public void unwatch(int fd) {
        throw notHere();
    }

    @Override
    public void unwatchAndClose(int fd) {
        throw notHere();
    }

    @Override
    public long counterAddress(String label) {
        return counters.computeIfAbsent(label, each -> new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES)))
            .addressOffset();
    }

    /**
     * What was counted.
     *
     * @param label of the counter.
     * @return 0 if it was not made.
     */
    public long counter(String label) {
        UnsafeBuffer counter = counters.get(label);
        return counter == null ? 0 : counter.getLong(0);
    }

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("a scripted link needs no files and no descriptors");
    }
}
