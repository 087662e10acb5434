package org.jfabric.layout;

/**
 * Layout of the {@code cnc} file. Only the driver writes it; all other processes map it read-only, and the driver does
 * not depend on values that it reads back from it.
 *
 * <pre>
 *    0  common file header; parameter 1 = start time of the driver (ms since 1970, informative),
 *       parameter 2 = 0
 *  128  may park, 4 bytes       1: the driver's thread may sleep, ring the doorbell if parked is set
 *  132  parked, 4 bytes         1: it sleeps, or is about to
 *  136  process id, 8 bytes     informative only
 *  144  length of counters' metadata, 4 bytes
 *  148  length of counters' values, 4 bytes
 *  152  length of the error log, 4 bytes
 *  256  cycles, 8 bytes         duty cycles so far, written rarely
 * 4096  counters' metadata, then counters' values (Agrona's layouts), then the distinct error log
 * </pre>
 */
public final class CncDescriptor {
    public static final String FILE_NAME = "cnc";
    /** Offset of the word that says whether the driver may sleep: 0 for never, {@link #PARKS} or {@link #MAY_PARK}. */
    public static final int MAY_PARK_OFFSET = 128;
    /** The driver may sleep: clients and peers read the word at {@link #PARKED_OFFSET} after each commit. */
    public static final int PARKS = 1;
    /** The driver may sleep later: clients read that word from the start, a peer from the driver's frame on. */
    public static final int MAY_PARK = 2;
    /** Offset of the word that is 1 if the driver sleeps, or is about to. */
    public static final int PARKED_OFFSET = 132;
    /** Offset of the driver's process id. */
    public static final int PID_OFFSET = 136;
    public static final int METADATA_LENGTH_OFFSET = 144;
    public static final int VALUES_LENGTH_OFFSET = 148;
    public static final int ERROR_LOG_LENGTH_OFFSET = 152;
    /** Offset of the count of duty cycles. */
    public static final int CYCLES_OFFSET = 256;
    public static final int METADATA_OFFSET = 4096;
    /** Agrona's ratio of counter metadata to values. */
    public static final int METADATA_TO_VALUES_RATIO = 4;

    private CncDescriptor() {
    }

    public static int fileLength(int valuesLength, int errorLogLength) {
        return METADATA_OFFSET + valuesLength * METADATA_TO_VALUES_RATIO + valuesLength + errorLogLength;
    }
}
