package org.jfabric.driver.link;

import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.layout.OwnerId;

import java.nio.file.Path;

/**
 * What a driver offers to its links. Owner: progress agent, unless a method says otherwise.
 */
public abstract class LinkServices {
    /** Told when a watched descriptor is readable. */
    public interface DescriptorHandler {
        /**
         * The descriptor is readable, at its end, or broken. Called once; watch it again with
         * {@link LinkServices#rearm}. Progress thread.
         *
         * @param fd the descriptor.
         */
        void onReadable(int fd);
    }

    /**
     * The driver's own directory.
     *
     * @return absolute path.
     */
    public abstract Path directory();

    /**
     * Descriptor of the driver's own directory.
     *
     * @return open descriptor, valid while the driver runs.
     */
    public abstract int directoryFd();

    /**
     * The driver's name: the last part of its directory and the host part of its addresses.
     *
     * @return the name.
     */
    public abstract String driverName();

    /**
     * The driver's random identity.
     *
     * @return the id in all its files.
     */
    public abstract OwnerId ownerId();

    /**
     * A number for a new file in the driver's directory. Any thread.
     *
     * @return a number that was never used in this directory by this driver.
     */
    public abstract long nextFileNumber();

    /**
     * Runs slow work on the resource thread.
     *
     * @param task whose result is applied in a later cycle.
     */
    public abstract void submit(ResourceTask task);

    /**
     * Watches a descriptor for one readable event.
     *
     * @param fd      non-blocking descriptor.
     * @param handler told once.
     */
    public abstract void watch(int fd, DescriptorHandler handler);

    /**
     * Watches for the next event of a watched descriptor.
     *
     * @param fd watched before.
     */
    public abstract void rearm(int fd);

    /**
     * Ends watching; the descriptor stays open.
     *
     * @param fd watched before.
     */
    public abstract void unwatch(int fd);

    /**
     * Ends watching, if it is watched, and closes the descriptor.
     *
     * @param fd open.
     */
    public abstract void unwatchAndClose(int fd);

    /**
     * Records an error in the driver's distinct error log.
     *
     * @param error with values and remedy.
     */
    public abstract void onError(Throwable error);

    /**
     * A counter of the link in the driver's {@code cnc} file.
     *
     * @param label for people, for example {@code shm: bytes by single copy}.
     * @return native address of its 8 bytes; one writer, the progress agent.
     */
    public abstract long counterAddress(String label);

    /**
     * The time of this cycle; the clock was read once.
     *
     * @return nanoseconds of {@link System#nanoTime()}.
     */
    public abstract long nowNs();
}
