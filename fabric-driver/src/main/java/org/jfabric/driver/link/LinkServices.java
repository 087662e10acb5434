package org.jfabric.driver.link;

import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.layout.OwnerId;

import java.nio.file.Path;

/**
 * The services of a driver for its links. Owner: progress agent, unless a method says otherwise.
 */
public abstract class LinkServices {
    /** Called when a watched descriptor is readable. */
    public interface DescriptorHandler {
        /**
         * The descriptor is readable, at its end, or broken. Called once for each {@link LinkServices#watch} or
         * {@link LinkServices#rearm}. Progress thread.
         */
        void onReadable(int fd);
    }

    /** The driver's own directory, absolute path. */
    public abstract Path directory();

    /** Descriptor of the driver's own directory, open while the driver runs. */
    public abstract int directoryFd();

    /** The driver's name: the last part of its directory and the host part of its addresses. */
    public abstract String driverName();

    /** The driver's random id. */
    public abstract OwnerId ownerId();

    /**
     * A number for a new file in the driver's directory. Any thread. Returns a number that was never used in this
     * directory by this driver.
     */
    public abstract long nextFileNumber();

    /**
     * Runs slow work on the resource thread.
     *
     * @param task work whose result is applied in a later cycle.
     */
    public abstract void submit(ResourceTask task);

    /** Watches a descriptor for one readable event. */
    public abstract void watch(int fd, DescriptorHandler handler);

    /**
     * Watches for the next event of a watched descriptor.
     *
     * @param fd watched before.
     */
    public abstract void rearm(int fd);

    /**
     * Stops watching a descriptor, which stays open.
     *
     * @param fd watched before.
     */
    public abstract void unwatch(int fd);

    /** Stops watching a socket of this host, if it is watched, and closes it: the peer sees the end at once. */
    public abstract void unwatchAndClose(int fd);

    /** Records an error in the driver's distinct error log. */
    public abstract void onError(Throwable error);

    /**
     * A counter of the link in the driver's {@code cnc} file.
     *
     * @param label readable description, for example {@code shm: bytes by single copy}.
     * @return native address of the counter's 8 bytes; the progress agent is the only writer.
     */
    public abstract long counterAddress(String label);

    /**
     * A counter that exists as long as the object that it counts.
     *
     * @param type  one of the types of {@link org.jfabric.layout.MetricLabel}.
     * @param label {@code MetricLabel.text}.
     * @return native address of its 8 bytes; the progress agent is the only writer.
     */
    public abstract long openCounter(int type, String label);

    /**
     * Closes a counter.
     *
     * @param address from {@link #openCounter}.
     */
    public abstract void closeCounter(long address);

    /**
     * The sampled times of messages of this thread, and whether there are samples; {@link StageTimes#OFF} unless it is
     * overridden.
     */
    public StageTimes stages() {
        return StageTimes.OFF;
    }

    /** The progress thread whose links these services are for. Returns its number, from 0. */
    public int thread() {
        return 0;
    }

    /**
     * The progress thread of an open endpoint or listener of this driver. Any thread of the driver. Returns the number
     * of the thread; -1 if there is no such endpoint, or the driver has one progress thread only.
     */
    public int threadOf(String address) {
        return -1;
    }

    /** An endpoint or listener of this thread can be reached at an address of this driver. */
    public void opened(String address) {
        // a driver with one progress thread needs no list of them
    }

    /**
     * As {@link #opened}, unless another thread has the address: a name that threads may ask for at the same time.
     *
     * @return false if another thread has it.
     */
    public boolean claim(String address) {
        return true;
    }

    /**
     * Nothing is reached at an address any more.
     *
     * @param address as {@link #opened}; ignored if an endpoint of another thread has it.
     */
    public void closed(String address) {
        // as above
    }

    /** Clock, random numbers and threads of the driver. Returns the same object always. */
    public Environment environment() {
        return Environment.SYSTEM;
    }

    /** The time of this cycle; the clock was read once. Returns the nanoseconds of {@link System#nanoTime()}. */
    public abstract long nowNs();

    /**
     * The time for which the driver was run, as of {@link #nowNs()}: a pause between two cycles counts for a short time
     * only, because nothing was read and answered meanwhile. Time-outs of handshakes are counted in it. Returns the
     * nanoseconds of a time of its own.
     */
    public long attendedNs() {
        return nowNs();
    }

    /**
     * The same for what begins now: the clock is read, because calls of an application come between cycles. Returns the
     * nanoseconds as of {@link #attendedNs()}.
     */
    public long readAttendedNs() {
        return environment().nanoTime();
    }

    /** Whether this cycle comes after a pause of the application, so that it does what others do now and then only. */
    public boolean isCatchingUp() {
        return false;
    }
}
