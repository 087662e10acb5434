package org.jfabric.info;

import org.jfabric.Fabric;

/**
 * Identity and versions of a fabric.
 *
 * <p>Use: {@code hints.fabricAttr().apiVersion(FabricAttr.version(1, 18))}.
 *
 * <p>In hints null and 0 are wildcards; a new object is all wildcards. Versions are compared as unsigned ints, see
 * {@link #version(int, int)}. Source: fi_fabric(3), section Fabric Attributes; fi_version(3). Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class FabricAttr {
    /**
     * Version of the interface that this library offers, 1.18: the newest one whose constants and rules it follows. An
     * application that asks for a newer one is refused.
     */
    public static final int API_VERSION = 1 << 16 | 18;

    private static final int HALF_BITS = 16;
    private static final int HALF_MASK = 0xffff;

    private String name;
    private String provName;
    private int provVersion;
    private int apiVersion;

    /**
     * Attributes with every member at its default.
     */
    public FabricAttr() {
    }

    private FabricAttr(FabricAttr from) {
        name = from.name;
        provName = from.provName;
        provVersion = from.provVersion;
        apiVersion = from.apiVersion;
    }

    /** Name of the fabric, or null for any. Default null. */
    public String name() {
        return name;
    }

    /** Sets {@link #name()}; returns this object. */
    public FabricAttr name(String name) {
        this.name = name;
        return this;
    }

    /** Name of the provider, or null for any. Default null. */
    public String provName() {
        return provName;
    }

    /** Sets {@link #provName()}; returns this object. */
    public FabricAttr provName(String provName) {
        this.provName = provName;
        return this;
    }

    /** Version of the provider. Default 0. */
    public int provVersion() {
        return provVersion;
    }

    /** Sets {@link #provVersion()}; returns this object. */
    public FabricAttr provVersion(int provVersion) {
        this.provVersion = provVersion;
        return this;
    }

    /**
     * Version of the API that the application was written for. In hints, and in an info that something is opened with,
     * 0 or {@link Fabric#apiVersion()}; in matches the latter. Default 0.
     */
    public int apiVersion() {
        return apiVersion;
    }

    /** Sets {@link #apiVersion()}; returns this object. */
    public FabricAttr apiVersion(int apiVersion) {
        this.apiVersion = apiVersion;
        return this;
    }

    /**
     * Whether {@link #apiVersion()} is older than a version, so that compatibility rules apply.
     *
     * @param major 0 to 65535.
     * @param minor 0 to 65535.
     * @return false if it is not, or if it is 0, which asks for no compatibility.
     * @throws FabricException with {@link FabricErrno#EINVAL} if a part does not fit.
     */
    public boolean precedes(int major, int minor) {
        return apiVersion != 0 && Integer.compareUnsigned(apiVersion, version(major, minor)) < 0;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public FabricAttr copy() {
        return new FabricAttr(this);
    }

    @Override
    public String toString() {
        return "FabricAttr{name=" + name + ", provName=" + provName
            + ", provVersion=" + versionText(provVersion) + ", apiVersion=" + versionText(apiVersion) + '}';
    }

    /**
     * A version as one number (FI_VERSION): the major one in the upper 16 bits, the minor one below.
     *
     * @param major 0 to 65535.
     * @param minor 0 to 65535.
     * @return major in the high half, minor in the low half; compare with {@link Integer#compareUnsigned(int, int)}.
     * @throws FabricException with {@link FabricErrno#EINVAL} if a part does not fit.
     */
    public static int version(int major, int minor) {
        if (major != (major & HALF_MASK) || minor != (minor & HALF_MASK)) {
            throw new FabricException(FabricErrno.EINVAL,
                "version is " + major + "." + minor + ", needed are parts from 0 to " + HALF_MASK,
                "Pass the two parts of the version separately.");
        }
        return major << HALF_BITS | minor;
    }

    /**
     * The API version that an application gets for the one that it asks for.
     *
     * @param version two halves of 16 bits, major first; 0 is the newest.
     * @return the version.
     * @throws FabricException {@link FabricErrno#ENOSYS} if it is newer than this library.
     */
    public static int offered(int version) {
        if (Integer.compareUnsigned(version, API_VERSION) > 0) {
            throw new FabricException(FabricErrno.ENOSYS, "API version " + versionText(version)
                + " is newer than this library's " + versionText(API_VERSION),
                "Ask for at most that version, or use a newer library.");
        }
        return version == 0 ? API_VERSION : version;
    }

    /**
     * The text of a version.
     *
     * @param version two halves of 16 bits, major first.
     * @return such as {@code 2.0}.
     */
    public static String versionText(int version) {
        return (version >>> HALF_BITS) + "." + (version & HALF_MASK);
    }
}
