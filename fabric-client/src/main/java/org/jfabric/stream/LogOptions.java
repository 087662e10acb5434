package org.jfabric.stream;

import java.util.Locale;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * How a group is recorded, and how long its log keeps what.
 *
 * <p>Use: {@code Publication.on(fabric, address).recordIn(folder, new LogOptions().retainBytes(1L << 40))}. As text,
 * for {@link org.jfabric.Endpoint#join(String, long, long)}, they stand behind the address of the group, each as
 * {@code name=value}.
 */
public final class LogOptions {
    private static final String SEGMENT_LENGTH = "segmentLengthBytes";
    private static final String RETAIN_BYTES = "retainBytes";
    private static final String RETAIN_NS = "retainNs";
    private static final String WHEN_FULL = "whenFull";
    private static final String VISIBLE = "visible";

    /** What happens to messages for which the disk has no room. */
    public enum FullDisk {
        /** The writer waits until there is room: {@code offer} answers {@code -FI_EAGAIN} when the ring is full. */
        WAIT,
        /** They are not recorded; a gap stands for them as soon as there is room again. */
        GAP
    }

    /** When readers see a message. */
    public enum Visibility {
        /** At once. A kill of the writer's driver may lose what a reader has seen, from the log. */
        RING,
        /** When it is in the page cache, from which on it survives a kill of the driver. */
        WRITTEN,
        /** When it is on stable storage, from which on it survives a power cut. */
        SYNCED
    }

    private int segmentLengthBytes;
    private FullDisk whenFull = FullDisk.WAIT;
    private long retainBytes = Long.MAX_VALUE;
    private long retainNs = Long.MAX_VALUE;
    private Visibility visibility = Visibility.RING;

    /** A log that keeps everything, and stops its writer when the disk is full. */
    public LogOptions() {
    }

    /**
     * Length of its segments.
     *
     * @return bytes; 0, the default, for 128 MiB, or what the log was made with.
     */
    public int segmentLengthBytes() {
        return segmentLengthBytes;
    }

    /**
     * Sets the length of its segments.
     *
     * @param bytes a power of two from 1 MiB to 1 GiB; 0 as {@link #segmentLengthBytes()}.
     * @return this.
     */
    public LogOptions segmentLengthBytes(int bytes) {
        segmentLengthBytes = bytes;
        return this;
    }

    /**
     * What happens when the disk is full.
     *
     * @return {@link FullDisk#WAIT} by default.
     */
    public FullDisk whenFull() {
        return whenFull;
    }

    /**
     * Sets what happens when the disk is full.
     *
     * @param policy one of them.
     * @return this.
     */
    public LogOptions whenFull(FullDisk policy) {
        whenFull = Codes.required(policy, "policy");
        return this;
    }

    /**
     * Bytes of all segments that are kept.
     *
     * @return by default without limit.
     */
    public long retainBytes() {
        return retainBytes;
    }

    /**
     * Has the oldest segments deleted before a new one would make it more than that.
     *
     * @param bytes of all segments; room for two of them at least.
     * @return this.
     */
    public LogOptions retainBytes(long bytes) {
        retainBytes = bytes;
        return this;
    }

    /**
     * Age of messages that are kept.
     *
     * @return nanoseconds; by default without limit.
     */
    public long retainNs() {
        return retainNs;
    }

    /**
     * Has segments deleted when a new one is begun, and all of their messages are older than that.
     *
     * @param ageNs nanoseconds.
     * @return this.
     */
    public LogOptions retainNs(long ageNs) {
        retainNs = ageNs;
        return this;
    }

    /**
     * When readers see a message.
     *
     * @return {@link Visibility#RING} by default.
     */
    public Visibility visibility() {
        return visibility;
    }

    /**
     * Sets when readers see a message.
     *
     * @param from one of them. With {@link Visibility#SYNCED} the disk syncs all the time, many messages at once.
     * @return this.
     */
    public LogOptions visibility(Visibility from) {
        visibility = Codes.required(from, "visibility");
        return this;
    }

    /**
     * Sets an option by its name, as in the text.
     *
     * @param name  {@code segmentLengthBytes}, {@code retainBytes}, {@code retainNs}, {@code whenFull} or
     *              {@code visible}.
     * @param value a number, or the name of a constant in lower case.
     * @return this.
     * @throws FabricException {@link FabricErrno#EINVAL} for any other name or value.
     */
    public LogOptions set(String name, String value) {
        try {
            switch (name) {
                case SEGMENT_LENGTH -> segmentLengthBytes = Integer.parseInt(value);
                case RETAIN_BYTES -> retainBytes = Long.parseLong(value);
                case RETAIN_NS -> retainNs = Long.parseLong(value);
                case WHEN_FULL -> whenFull = FullDisk.valueOf(value.toUpperCase(Locale.ROOT));
                case VISIBLE -> visibility = Visibility.valueOf(value.toUpperCase(Locale.ROOT));
                default -> throw new FabricException(FabricErrno.EINVAL, "the option of a recorded group is " + name,
                    "Give " + String.join(", ", SEGMENT_LENGTH, RETAIN_BYTES, RETAIN_NS, WHEN_FULL) + " or " + VISIBLE
                        + '.');
            }
        } catch (IllegalArgumentException e) {
            throw new FabricException(FabricErrno.EINVAL, name + " of a recorded group is " + value,
                "Give a number, wait or gap of " + WHEN_FULL + ", or ring, written or synced of " + VISIBLE + '.', e);
        }
        return this;
    }

    /** The options that differ from the defaults, each as {@code &name=value}. */
    @Override
    public String toString() {
        return (segmentLengthBytes == 0 ? "" : '&' + SEGMENT_LENGTH + '=' + segmentLengthBytes)
            + (retainBytes == Long.MAX_VALUE ? "" : '&' + RETAIN_BYTES + '=' + retainBytes)
            + (retainNs == Long.MAX_VALUE ? "" : '&' + RETAIN_NS + '=' + retainNs)
            + (whenFull == FullDisk.WAIT ? "" : '&' + WHEN_FULL + '=' + whenFull.name().toLowerCase(Locale.ROOT))
            + (visibility == Visibility.RING ? "" : '&' + VISIBLE + '=' + visibility.name().toLowerCase(Locale.ROOT));
    }
}
