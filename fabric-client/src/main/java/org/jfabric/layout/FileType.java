package org.jfabric.layout;

/** The types of shared files; the header of a file has the code of its type. */
public enum FileType {
    /** Header, counters and error log of a driver. */
    CNC(1, "cnc"),
    /** Command and event rings of one client. */
    CONTROL(2, "ctl"),
    /** Transmit queue of an endpoint. */
    TRANSMIT_QUEUE(3, "tq"),
    /** Receive queue of an endpoint. */
    RECEIVE_QUEUE(4, "rq"),
    /** Completion queue. */
    COMPLETION_QUEUE(5, "cq"),
    /** Registered memory. */
    MEMORY_REGION(6, "mr"),
    /** Receive slab of an endpoint. */
    SLAB(7, "slab"),
    /** Counter. */
    COUNTER(8, "cntr"),
    /** Futex word of a wait set. */
    WAIT_SET(9, "wait"),
    /** Snapshot of matching state. */
    VIEW(10, "view"),
    /** One direction of a shm link. */
    RING(11, "ring"),
    /** Messages of a group's writer. */
    GROUP(12, "group"),
    /** Last events of every agent of a driver. */
    RECORD(13, "record"),
    /** Newest values by key. */
    TABLE(14, "table");

    private final int code;
    private final String suffix;

    FileType(int code, String suffix) {
        this.code = code;
        this.suffix = suffix;
    }

    /** The number in the file header. Returns the code, from 1. */
    public int code() {
        return code;
    }

    /**
     * Name of the file with a given number.
     *
     * @param number number of the file in its directory, from 1; any for the driver's own files.
     * @return for example {@code 17.tq}.
     */
    public String fileName(long number) {
        return isDriversOwn() ? suffix : number + "." + suffix;
    }

    /** Whether a driver has one such file, {@code cnc} or {@code record}, which is no client's. */
    public boolean isDriversOwn() {
        return this == CNC || this == RECORD;
    }

    /**
     * Whether a file name is one that a driver creates. In its directory a driver deletes only such files.
     *
     * @param name without a path.
     * @return true for a number from 1 with the suffix of a type, and for the names of the driver's own files.
     */
    public static boolean isFileName(String name) {
        if (name.equals(CncDescriptor.FILE_NAME) || name.equals(EventRecordDescriptor.FILE_NAME)) {
            return true;
        }
        int dot = name.indexOf('.');
        if (dot < 1 || name.charAt(0) == '0' || !name.chars().limit(dot).allMatch(each -> each >= '0' && each <= '9')) {
            return false;
        }
        String suffix = name.substring(dot + 1);
        for (FileType type : values()) {
            if (!type.isDriversOwn() && type.suffix.equals(suffix)) {
                return true;
            }
        }
        return false;
    }
}
