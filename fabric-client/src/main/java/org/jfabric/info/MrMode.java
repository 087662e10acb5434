package org.jfabric.info;

/**
 * Memory registration mode bits, without the {@code FI_MR_} prefix.
 *
 * <p>Use: {@code hints.domainAttr().mrMode(MrMode.LOCAL)}.
 *
 * <p>In hints a set bit says that the application is able to fulfil the demand; in a returned {@link DomainAttr} a set
 * bit says that it must. Hints of 0 ask for nothing; others must have every bit that a link needs, else the link is
 * refused. All links need {@link #LOCAL}, and all but one no other: regions are addressed by offset with keys of the
 * application. Remote memory access over verbs needs {@link #VIRT_ADDR}, {@link #ALLOCATED} and {@link #PROV_KEY} too,
 * and hints that name them. Source: fi_domain(3), section Domain Attributes, mr_mode; bits of libfabric 1.18. Constants
 * only; any thread.
 */
public final class MrMode {
    /**
     * Bit 2. Local buffers of transfers must be registered; what an inject call copies need not be. The address names
     * the region, so no call takes a descriptor. Hints of API versions below 1.5 say {@link Mode#LOCAL_MR} instead.
     */
    public static final long LOCAL = 0x4L;

    /** Bit 3. Keys are raw provider keys that must be mapped before use. */
    public static final long RAW = 0x8L;

    /** Bit 4. Peers address a region by its virtual address; without it by offset from its start. */
    public static final long VIRT_ADDR = 0x10L;

    /** Bit 5. Registered memory must be backed by physical pages. */
    public static final long ALLOCATED = 0x20L;

    /** Bit 6. The provider chooses the keys; without it the application does. */
    public static final long PROV_KEY = 0x40L;

    /** Bit 7. The application notifies the provider of changed page mappings. */
    public static final long MMU_NOTIFY = 0x80L;

    /** Bit 8. Regions that report accesses by peers must be bound to a counter or queue. */
    public static final long RMA_EVENT = 0x100L;

    /** Bit 9. Regions must be bound to the endpoint that they are used with. */
    public static final long ENDPOINT = 0x200L;

    /** Bit 10. Device memory must be registered. */
    public static final long HMEM = 0x400L;

    /** Bit 11. Buffers of collective operations must be registered. */
    public static final long COLLECTIVE = 0x800L;

    private static final String[] NAMES = new String[Long.SIZE];

    static {
        NAMES[Long.numberOfTrailingZeros(LOCAL)] = "LOCAL";
        NAMES[Long.numberOfTrailingZeros(RAW)] = "RAW";
        NAMES[Long.numberOfTrailingZeros(VIRT_ADDR)] = "VIRT_ADDR";
        NAMES[Long.numberOfTrailingZeros(ALLOCATED)] = "ALLOCATED";
        NAMES[Long.numberOfTrailingZeros(PROV_KEY)] = "PROV_KEY";
        NAMES[Long.numberOfTrailingZeros(MMU_NOTIFY)] = "MMU_NOTIFY";
        NAMES[Long.numberOfTrailingZeros(RMA_EVENT)] = "RMA_EVENT";
        NAMES[Long.numberOfTrailingZeros(ENDPOINT)] = "ENDPOINT";
        NAMES[Long.numberOfTrailingZeros(HMEM)] = "HMEM";
        NAMES[Long.numberOfTrailingZeros(COLLECTIVE)] = "COLLECTIVE";
    }

    private MrMode() {
    }

    /**
     * Names of the bits set in a word, for messages and logs; allocates, so not for the data path.
     *
     * @param mrMode the word.
     * @return names joined by {@code |}, {@code 0} for none; an undefined bit is shown by its number.
     */
    public static String toString(long mrMode) {
        return Flags.names(mrMode, NAMES);
    }
}
