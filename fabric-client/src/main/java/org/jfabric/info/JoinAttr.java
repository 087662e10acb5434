package org.jfabric.info;

/**
 * How an endpoint joins a group, beyond what the flags of the call say.
 *
 * <p>Use: {@code endpoint.join("jfabric://alpha/quotes", 0, Flags.RECV, new JoinAttr().from(last))}.
 */
public final class JoinAttr {
    /** Begins the addresses of groups that are written on other hosts: {@code stream://host:port/group}. */
    public static final String STREAM_SCHEME = "stream://";

    /**
     * Behind the address of a stream, with the name of a {@link TimestampClock} in lower case behind it: its readers in
     * place get the time at which each message arrived at this host, for example
     * {@code stream://10.0.0.7:4100/quotes?times=system}. They have a ring of their own, apart from readers without.
     */
    public static final String TIMES = "?times=";

    private LogPosition from;

    /** A reader begins with the messages that are written from now on. */
    public JoinAttr() {
    }

    /**
     * Where a reader begins.
     *
     * @return the place of its first message; null, the default, for what is written from now on.
     */
    public LogPosition from() {
        return from;
    }

    /**
     * Sets where a reader begins.
     *
     * @param place of its first message, which the ring has to have still; null for what is written from now on.
     * @return this.
     */
    public JoinAttr from(LogPosition place) {
        from = place;
        return this;
    }

    @Override
    public String toString() {
        return "JoinAttr{from=" + from + '}';
    }
}
