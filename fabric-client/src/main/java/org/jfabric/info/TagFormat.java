package org.jfabric.info;

/**
 * The fields of a tag, decoded from {@link EndpointAttr#memTagFormat()}.
 *
 * <p>Use: {@code new TagFormat(0x30FF).fieldCount()} is 3.
 *
 * <p>Leading zeros are bits that the application does not use. From the first one on, runs of ones and of zeros
 * alternate, and each run is a field; 0x30FF has fields of 2, 4 and 8 bits, {@link FabricAddress#TAG_FORMAT_GENERIC}
 * has 64 of one bit. An ignore mask covers a field entirely or not at all. JFabric itself compares all 64 bits under
 * any mask; this class is for applications that are meant to run elsewhere too.
 *
 * <p>From API version 2.0 on the attribute may name a format instead: {@link #BITS} or {@link #MPI}.
 *
 * <p>Immutable, any thread. Source: fi_endpoint(3), section Endpoint Attributes, mem_tag_format.
 */
public final class TagFormat {
    /** Of API version 2.0 and later: bits under any mask (FI_TAG_BITS). In hints also "no format asked for". */
    public static final long BITS = 0;

    /**
     * Of API version 2.0 and later: two fields, a message tag of 32 bits below a payload identifier of 8 bits
     * (FI_TAG_MPI), see {@link #mpi}. A call with other bits in its tag, or with an ignore mask that covers a part of a
     * field, is refused with {@link FabricErrno#EINVAL}.
     */
    public static final long MPI = 1;

    /** Of API version 2.0 and later: from this value on the attribute describes fields (FI_TAG_MAX_FORMAT). */
    public static final long MAX_FORMAT = 1L << 16;

    /** Mask that ignores the message tag of {@link #MPI}. */
    public static final long MPI_IGNORE_TAG = 0xffff_ffffL;

    /** Mask that ignores the payload identifier of {@link #MPI}. */
    public static final long MPI_IGNORE_PAYLOAD = 0xff_0000_0000L;

    private final long format;

    /**
     * Reads a format.
     *
     * @param memTagFormat as in the attributes; 0 has no field.
     */
    public TagFormat(long memTagFormat) {
        this.format = memTagFormat;
    }

    /**
     * A tag of the format {@link #MPI} (fi_tag_mpi).
     *
     * @param messageTag any number.
     * @param payloadId  identifier of the operation or of the kind of payload, 0 to 255.
     * @return the tag.
     * @throws FabricException {@link FabricErrno#EINVAL} for another identifier.
     */
    public static long mpi(int messageTag, int payloadId) {
        if (payloadId < 0 || payloadId > 0xff) {
            throw new FabricException(FabricErrno.EINVAL,
                "the payload identifier is " + payloadId + ", needed is one from 0 to 255");
        }
        return (long) payloadId << Integer.SIZE | messageTag & MPI_IGNORE_TAG;
    }

    /**
     * Whether a tag has no bits beyond the fields of {@link #MPI}.
     *
     * @param tag of a message or a receive.
     * @return false for a call that is refused.
     */
    public static boolean isMpiTag(long tag) {
        return (tag & ~(MPI_IGNORE_PAYLOAD | MPI_IGNORE_TAG)) == 0;
    }

    /**
     * Whether a mask covers each field of {@link #MPI} entirely or not at all.
     *
     * @param ignore of a receive; bits outside of the fields do not count.
     * @return false for a call that is refused.
     */
    public static boolean isMpiMask(long ignore) {
        long tagBits = ignore & MPI_IGNORE_TAG;
        long payloadBits = ignore & MPI_IGNORE_PAYLOAD;
        return (tagBits == 0 || tagBits == MPI_IGNORE_TAG) && (payloadBits == 0 || payloadBits == MPI_IGNORE_PAYLOAD);
    }

    /**
     * Usable bits of a tag.
     *
     * @return 0 to 64.
     */
    public int bits() {
        return Long.SIZE - Long.numberOfLeadingZeros(format);
    }

    /**
     * All usable bits.
     *
     * @return a mask; a provider may deliver others in a completion's tag, which mean nothing.
     */
    public long mask() {
        return format == 0 ? 0 : -1L >>> Long.numberOfLeadingZeros(format);
    }

    /**
     * Number of fields.
     *
     * @return 0 to 64.
     */
    public int fieldCount() {
        return format == 0 ? 0 : Long.bitCount((format ^ format >>> 1) & mask());
    }

    /**
     * Bits of a field.
     *
     * @param index from 0, the highest field first.
     * @return mask of neighbouring bits.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no such field.
     */
    public long fieldMask(int index) {
        if (index < 0 || index >= fieldCount()) {
            throw new FabricException(FabricErrno.EINVAL,
                "field " + index + " was asked for, the tag format " + Codes.hex(format) + " has " + fieldCount(),
                "Ask for a field from 0 to the number of fields, exclusive.");
        }
        long rest = mask();
        for (int i = 0;; i++) {
            int top = Long.SIZE - Long.numberOfLeadingZeros(rest);
            long inverted = (format >>> top - 1 & 1) == 1 ? ~format & rest : format & rest;
            int end = Long.SIZE - Long.numberOfLeadingZeros(inverted);
            long below = end == 0 ? 0 : -1L >>> Long.SIZE - end;
            if (i == index) {
                return rest & ~below;
            }
            rest = below;
        }
    }

    /**
     * Whether a mask covers each field entirely or not at all.
     *
     * @param ignore as for a receive; bits outside of the fields do not count.
     * @return false if a provider may misread it.
     */
    public boolean isValidMask(long ignore) {
        for (int i = 0, count = fieldCount(); i < count; i++) {
            long field = fieldMask(i);
            if ((ignore & field) != 0 && (ignore & field) != field) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether this format has the fields that another one asks for: as many, and each at least as wide.
     *
     * @param wanted asked for.
     * @return true if it will do.
     */
    public boolean holds(TagFormat wanted) {
        if (fieldCount() != wanted.fieldCount()) {
            return false;
        }
        for (int i = 0, count = fieldCount(); i < count; i++) {
            if (Long.bitCount(fieldMask(i)) < Long.bitCount(wanted.fieldMask(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TagFormat that && that.format == format;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(format);
    }

    @Override
    public String toString() {
        return "TagFormat{" + Codes.hex(format) + '}';
    }
}
