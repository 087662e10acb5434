package org.jfabric.info;

/**
 * Whose clock the times of arrival and departure are of ({@link Flags#TIMESTAMP}). All are nanoseconds.
 *
 * <p>Use: {@code TimestampClock.of(Flags.MSG | Flags.TIMESTAMP)}.
 */
public enum TimestampClock {
    /**
     * The system's clock, {@code CLOCK_REALTIME}: nanoseconds since 1970. The kernel reads it when its driver of the
     * card hands over an arrived packet, or gives one to the card.
     */
    SYSTEM,

    /**
     * The network card's own clock, read as the packet passes its port; nanoseconds since whatever the clock was set
     * to. By how much it differs from the system's clock, or from that of another card, is left to the host's PTP
     * daemon.
     */
    CARD;

    /**
     * The clock that capabilities ask for.
     *
     * @param caps capabilities of an info or of one of its attributes.
     * @return null without {@link Flags#TIMESTAMP}.
     */
    public static TimestampClock of(long caps) {
        if ((caps & Flags.TIMESTAMP) == 0) {
            return null;
        }
        return (caps & Flags.CARD_CLOCK) == 0 ? SYSTEM : CARD;
    }
}
