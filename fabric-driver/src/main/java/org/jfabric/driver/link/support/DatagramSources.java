package org.jfabric.driver.link.support;

/**
 * The channels of one datagram endpoint by the key of their remote end. Each received datagram needs one lookup, which
 * allocates nothing. The table uses open addressing and is at most half full.
 *
 * <p>Owner: progress agent.
 */
public final class DatagramSources {
    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private DatagramChannel[] table = new DatagramChannel[16];
    private int size;

    /** Makes an empty table. */
    public DatagramSources() {
    }

    /**
     * The channel of a sender.
     *
     * @param high first part of its key.
     * @return channel, or null.
     */
    public DatagramChannel find(long high, long low, long rest) {
        DatagramChannel[] all = table;
        int mask = all.length - 1;
        for (int i = hash(high, low, rest) & mask; all[i] != null; i = i + 1 & mask) {
            DatagramChannel channel = all[i];
            if (channel.keyLow == low && channel.keyRest == rest && channel.keyHigh == high) {
                return channel;
            }
        }
        return null;
    }

    /** Adds a channel, and replaces one with the same key. */
    public void put(DatagramChannel channel) {
        remove(channel.keyHigh, channel.keyLow, channel.keyRest);
        if (2 * ++size > table.length) {
            grow();
        }
        place(channel);
    }

    /** Removes a channel, unless another one with its key has replaced it. */
    public void remove(DatagramChannel channel) {
        if (find(channel.keyHigh, channel.keyLow, channel.keyRest) == channel) {
            remove(channel.keyHigh, channel.keyLow, channel.keyRest);
        }
    }

    private void remove(long high, long low, long rest) {
        DatagramChannel found = find(high, low, rest);
        if (found == null) {
            return;
        }
        size--;
        int mask = table.length - 1;
        int hole = hash(high, low, rest) & mask;
        while (table[hole] != found) {
            hole = hole + 1 & mask;
        }
        table[hole] = null;
        // the entries behind it may have been displaced by it
        for (int i = hole + 1 & mask; table[i] != null; i = i + 1 & mask) {
            DatagramChannel displaced = table[i];
            table[i] = null;
            place(displaced);
        }
    }

    private void grow() {
        DatagramChannel[] old = table;
        table = new DatagramChannel[old.length * 2];
        for (DatagramChannel channel : old) {
            if (channel != null) {
                place(channel);
            }
        }
    }

    private void place(DatagramChannel channel) {
        int mask = table.length - 1;
        int i = hash(channel.keyHigh, channel.keyLow, channel.keyRest) & mask;
        while (table[i] != null) {
            i = i + 1 & mask;
        }
        table[i] = channel;
    }

    private static int hash(long high, long low, long rest) {
        long mixed = (high * 31 + low) * 31 + rest;
        return (int) (mixed * MIX >>> 32);
    }
}
