package org.jfabric.info;

import org.jfabric.Fabric;
import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * Identity and versions of a fabric.
 *
 * <p>Use: {@code hints.fabricAttr().apiVersion(FabricAttr.version(1, 18))}.
 *
 * <p>In hints null and 0 are wildcards; a new object is all wildcards. Versions are compared as unsigned ints, see
 * {@link #version(int, int)}. Source: fi_fabric(3), section Fabric Attributes; fi_version(3). Owner: the thread that
 * fills it in; a call that takes it reads it before it returns.
 */
public final class FabricAttr extends AttributeStructure<FabricAttr> {
    /**
     * Version of the interface that an application gets which names none, 1.18: its constants and rules are those of
     * this library, except where an application asks for {@link #VERSION_2}.
     */
    public static final int API_VERSION = 1 << 16 | 18;

    /**
     * Version 2.0 of the interface. An application that asks for it, or for a later one up to
     * {@link #NEWEST_API_VERSION}, gets what libfabric 2.x added and is refused what it removed.
     */
    public static final int VERSION_2 = 2 << 16;

    /** The newest version that an application may ask for, 2.6. */
    public static final int NEWEST_API_VERSION = 2 << 16 | 6;

    private static final int HALF_BITS = 16;
    private static final int HALF_MASK = 0xffff;

    private static final AttributeTable TABLE = new AttributeTable("fabric_attr.");
    private static final Attribute<String> NAME = TABLE.text("name", Rule.NAME);
    private static final Attribute<String> PROV_NAME = TABLE.text("prov_name", Rule.NAME);
    private static final Attribute<Integer> PROV_VERSION = TABLE.add("prov_version", Rule.AT_MOST, 0, Format.VERSION);
    private static final Attribute<Integer> API = TABLE.add("api_version", Rule.FREE, 0, Format.VERSION);

    /**
     * Attributes with every member at its default.
     */
    public FabricAttr() {
        super(TABLE);
    }

    /** Name of the fabric, or null for any. Default null. */
    public String name() {
        return get(NAME);
    }

    /** Sets {@link #name()}; returns this object. */
    public FabricAttr name(String name) {
        return set(NAME, name);
    }

    /** Name of the provider, or null for any. Default null. */
    public String provName() {
        return get(PROV_NAME);
    }

    /** Sets {@link #provName()}; returns this object. */
    public FabricAttr provName(String provName) {
        return set(PROV_NAME, provName);
    }

    /** Version of the provider. Default 0. */
    public int provVersion() {
        return get(PROV_VERSION);
    }

    /** Sets {@link #provVersion()}; returns this object. */
    public FabricAttr provVersion(int provVersion) {
        return set(PROV_VERSION, provVersion);
    }

    /**
     * Version of the API that the application was written for. In hints, and in an info that something is opened with,
     * 0 for {@link Fabric#apiVersion()}, the same, or 2.x on a fabric of version 1.18; in matches the version that they
     * follow. Default 0.
     */
    public int apiVersion() {
        return get(API);
    }

    /** Sets {@link #apiVersion()}; returns this object. */
    public FabricAttr apiVersion(int apiVersion) {
        return set(API, apiVersion);
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
        return apiVersion() != 0 && Integer.compareUnsigned(apiVersion(), version(major, minor)) < 0;
    }

    /**
     * Whether the rules of libfabric 2.x hold: {@link #apiVersion()} is {@link #VERSION_2} or later.
     *
     * @return false for older versions and for 0.
     */
    public boolean isVersion2() {
        return Integer.compareUnsigned(apiVersion(), VERSION_2) >= 0;
    }

    /**
     * What capabilities of this version are called.
     *
     * @return {@link Flags.Kind#CAPABILITY_2} from {@link #VERSION_2} on, else {@link Flags.Kind#CAPABILITY}.
     */
    public Flags.Kind capabilityKind() {
        return isVersion2() ? Flags.Kind.CAPABILITY_2 : Flags.Kind.CAPABILITY;
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
     * @param version two halves of 16 bits, major first; 0 is {@link #API_VERSION}.
     * @return the version.
     * @throws FabricException {@link FabricErrno#ENOSYS} unless {@link #isOffered}.
     */
    public static int offered(int version) {
        if (!isOffered(version)) {
            throw new FabricException(FabricErrno.ENOSYS, "API version " + versionText(version)
                + " is not one of this library, which has those up to " + versionText(API_VERSION) + " and from "
                + versionText(VERSION_2) + " to " + versionText(NEWEST_API_VERSION),
                "Ask for one of them, or use a newer library.");
        }
        return version == 0 ? API_VERSION : version;
    }

    /**
     * Whether an application may ask for a version.
     *
     * @param version two halves of 16 bits, major first; 0 is {@link #API_VERSION}.
     * @return true up to {@link #API_VERSION}, and from {@link #VERSION_2} to {@link #NEWEST_API_VERSION}. The versions
     *     between have a part of what 2.x added beside all that it removed.
     */
    public static boolean isOffered(int version) {
        return Integer.compareUnsigned(version, API_VERSION) <= 0
            || Integer.compareUnsigned(version, VERSION_2) >= 0
                && Integer.compareUnsigned(version, NEWEST_API_VERSION) <= 0;
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
