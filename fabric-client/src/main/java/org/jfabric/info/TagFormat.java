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
 * <p>Immutable, any thread.
 */
public final class TagFormat {
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
