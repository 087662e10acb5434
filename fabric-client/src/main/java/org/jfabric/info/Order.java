package org.jfabric.info;

/**
 * Ordering bits of message order and completion order, without the {@code FI_ORDER_} prefix.
 *
 * <p>Use: {@code hints.txAttr().msgOrder(Order.SAS)}.
 *
 * <p>The first letter names the later operation, the last one the earlier: read, write or send after read, write or
 * send. A guarantee needs the bit on both sides and concerns one source and one destination endpoint. Source:
 * fi_endpoint(3), section Transmit Context Attributes, msg_order and comp_order; bits of libfabric 1.18. Constants
 * only; any thread.
 */
public final class Order {
    /** No ordering. In hints: the provider default is fine. */
    public static final long NONE = 0L;

    /** Bit 0. RMA and atomic reads keep their order among themselves. */
    public static final long RAR = 0x1L;

    /** Bit 1. RMA and atomic reads stay behind earlier RMA and atomic writes. */
    public static final long RAW = 0x2L;

    /** Bit 2. RMA and atomic reads stay behind earlier sends, tagged included. */
    public static final long RAS = 0x4L;

    /** Bit 3. RMA and atomic writes stay behind earlier RMA and atomic reads. */
    public static final long WAR = 0x8L;

    /** Bit 4. RMA and atomic writes keep their order among themselves. */
    public static final long WAW = 0x10L;

    /** Bit 5. RMA and atomic writes stay behind earlier sends, tagged included. */
    public static final long WAS = 0x20L;

    /** Bit 6. Sends, tagged included, stay behind earlier RMA and atomic reads. */
    public static final long SAR = 0x40L;

    /** Bit 7. Sends, tagged included, stay behind earlier RMA and atomic writes. */
    public static final long SAW = 0x80L;

    /** Bit 8. Sends, tagged included, keep their order among themselves. */
    public static final long SAS = 0x100L;

    /** Bit 16. Completion order only: received data is written to memory in order. */
    public static final long DATA = 0x1_0000L;

    /** Bit 32. RMA reads keep their order among RMA reads. */
    public static final long RMA_RAR = 0x1_0000_0000L;

    /** Bit 33. RMA reads stay behind earlier RMA writes. */
    public static final long RMA_RAW = 0x2_0000_0000L;

    /** Bit 34. RMA writes stay behind earlier RMA reads. */
    public static final long RMA_WAR = 0x4_0000_0000L;

    /** Bit 35. RMA writes keep their order among RMA writes. */
    public static final long RMA_WAW = 0x8_0000_0000L;

    /** Bit 36. Atomic fetches keep their order among atomic fetches. */
    public static final long ATOMIC_RAR = 0x10_0000_0000L;

    /** Bit 37. Atomic fetches stay behind earlier atomic updates. */
    public static final long ATOMIC_RAW = 0x20_0000_0000L;

    /** Bit 38. Atomic updates stay behind earlier atomic fetches. */
    public static final long ATOMIC_WAR = 0x40_0000_0000L;

    /** Bit 39. Atomic updates keep their order among atomic updates. */
    public static final long ATOMIC_WAW = 0x80_0000_0000L;

    /**
     * Bits 0 to 8, all of them: complete in the order of submission. Test with {@code (v & STRICT) == STRICT};
     * {@link #DATA} is separate.
     */
    public static final long STRICT = 0x1ffL;

    private static final String[] NAMES = new String[Long.SIZE];

    static {
        NAMES[Long.numberOfTrailingZeros(RAR)] = "RAR";
        NAMES[Long.numberOfTrailingZeros(RAW)] = "RAW";
        NAMES[Long.numberOfTrailingZeros(RAS)] = "RAS";
        NAMES[Long.numberOfTrailingZeros(WAR)] = "WAR";
        NAMES[Long.numberOfTrailingZeros(WAW)] = "WAW";
        NAMES[Long.numberOfTrailingZeros(WAS)] = "WAS";
        NAMES[Long.numberOfTrailingZeros(SAR)] = "SAR";
        NAMES[Long.numberOfTrailingZeros(SAW)] = "SAW";
        NAMES[Long.numberOfTrailingZeros(SAS)] = "SAS";
        NAMES[Long.numberOfTrailingZeros(DATA)] = "DATA";
        NAMES[Long.numberOfTrailingZeros(RMA_RAR)] = "RMA_RAR";
        NAMES[Long.numberOfTrailingZeros(RMA_RAW)] = "RMA_RAW";
        NAMES[Long.numberOfTrailingZeros(RMA_WAR)] = "RMA_WAR";
        NAMES[Long.numberOfTrailingZeros(RMA_WAW)] = "RMA_WAW";
        NAMES[Long.numberOfTrailingZeros(ATOMIC_RAR)] = "ATOMIC_RAR";
        NAMES[Long.numberOfTrailingZeros(ATOMIC_RAW)] = "ATOMIC_RAW";
        NAMES[Long.numberOfTrailingZeros(ATOMIC_WAR)] = "ATOMIC_WAR";
        NAMES[Long.numberOfTrailingZeros(ATOMIC_WAW)] = "ATOMIC_WAW";
    }

    private Order() {
    }

    /**
     * Names of the bits set in a word, for messages and logs; allocates, so not for the data path.
     *
     * @param order the word.
     * @return names joined by {@code |}, {@code 0} for none; an undefined bit is shown by its number.
     */
    public static String toString(long order) {
        return Flags.names(order, NAMES);
    }
}
