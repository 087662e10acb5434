package org.jfabric.info;

import java.util.UUID;

/**
 * A place in the log of a group: whoever knows it can continue to read there, after its own end or the writer's.
 *
 * <p>A writer numbers the messages that it accepts 0, 1, 2 … for the life of its log. Without a recording each opening
 * of a group begins a new log. The term grows with each opening of a log that may have lost messages which readers have
 * seen: a position is the same message only in the same log and term.
 *
 * <pre>{@code
 * LogPosition next = endpoint.join("jfabric://alpha/quotes", 0, Flags.RECV).start().at(1000);
 * }</pre>
 *
 * @param logId    of the log, drawn at random when it begins.
 * @param term     1 or more.
 * @param position number of a message, 0 or more.
 */
public record LogPosition(UUID logId, int term, long position) {
    /** To begin with the oldest message of a group that is recorded on another host, whatever its log is. */
    public static final LogPosition OLDEST = atTime(0);

    /**
     * A place in a log.
     *
     * @throws FabricException {@link FabricErrno#EINVAL} without a log id, for a term below 1 or a negative position.
     */
    public LogPosition {
        if (logId == null || term < 1 || position < 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "position " + position + " in term " + term + " of log " + logId,
                "Take it from a group that was read.");
        }
    }

    /**
     * To begin with the first message of a group, recorded on another host, that was not recorded before a time.
     *
     * @param timeNs nanoseconds since 1970, by the clock of the writer's host.
     * @return a place of no log, which nothing but a join takes.
     */
    public static LogPosition atTime(long timeNs) {
        return new LogPosition(new UUID(0, 0), 1, timeNs);
    }

    /**
     * Another place in the same term of the same log.
     *
     * @param newPosition number of a message.
     * @return the place.
     */
    public LogPosition at(long newPosition) {
        return new LogPosition(logId, term, newPosition);
    }

    @Override
    public String toString() {
        return position + " of log " + logId + " term " + term;
    }
}
