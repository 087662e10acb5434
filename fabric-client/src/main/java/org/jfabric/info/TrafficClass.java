package org.jfabric.info;

/**
 * Names of traffic classes; the tclass attributes are ints, because a class may also be a DSCP value or provider
 * specific.
 *
 * <p>Use: {@code hints.txAttr().tclass(TrafficClass.LOW_LATENCY.code())}.
 *
 * <p>Over networks a class is a code point in the header of each packet: BEST_EFFORT 0, LOW_LATENCY 46 (EF),
 * DEDICATED_ACCESS 40 (CS5), BULK_DATA 10 (AF11), SCAVENGER 1 (LE), NETWORK_CTRL 48 (CS6), after RFC 4594 and RFC 8622.
 * {@link #dscpSet(int)} names any other. What the network does with it is the network's matter.
 *
 * <p>Source: fi_endpoint(3), sections Transmit Context Attributes, tclass, and fi_tc_dscp_set; codes of libfabric 1.18.
 */
public enum TrafficClass {
    /** The default of the domain. */
    UNSPEC(0),

    /** A differentiated services code point in the low eight bits, see {@link #dscpSet(int)}. */
    DSCP(0x100),

    /**
     * Fair sharing; what applies where nothing else is configured. The first label, so its code is also {@link #LABEL}.
     */
    BEST_EFFORT(0x200),

    /** Low latency and jitter, possibly with limits on bandwidth and size. */
    LOW_LATENCY(0x201),

    /** Highest priority except management. */
    DEDICATED_ACCESS(0x202),

    /** Large transfers kept apart from other traffic. */
    BULK_DATA(0x203),

    /** Unimportant traffic below all other. */
    SCAVENGER(0x204),

    /** Fabric management, typically privileged. */
    NETWORK_CTRL(0x205);

    /** First code of the labels; the classes from {@link #BEST_EFFORT} on are labels. */
    public static final int LABEL = 0x200;

    private static final int DSCP_MASK = 0xff;
    private static final TrafficClass[] VALUES = values();

    private final int code;

    TrafficClass(int code) {
        this.code = code;
    }

    /**
     * The number of libfabric for this constant.
     *
     * @return the code, as stored in queues and messages.
     */
    public int code() {
        return code;
    }

    /**
     * The constant of a traffic class.
     *
     * @param code value of a tclass attribute.
     * @return the constant; {@link #DSCP} for every code point, whose value {@link #dscpGet(int)} returns.
     * @throws FabricException with {@link FabricErrno#EINVAL} if no constant has this code.
     */
    public static TrafficClass of(int code) {
        int lookup = (code & ~DSCP_MASK) == DSCP.code ? DSCP.code : code;
        for (int i = 0; i < VALUES.length; i++) {
            if (VALUES[i].code == lookup) {
                return VALUES[i];
            }
        }
        throw Codes.unknown("TrafficClass", code, VALUES);
    }

    /**
     * Whether a value can be the traffic class of a domain or an endpoint; no link has classes of its own.
     *
     * @param tclass value of a tclass attribute.
     * @return true for 0, labels and code points.
     */
    public static boolean isDefined(int tclass) {
        if ((tclass & ~DSCP_MASK) == DSCP.code) {
            return true;
        }
        for (int i = 0; i < VALUES.length; i++) {
            if (VALUES[i].code == tclass) {
                return true;
            }
        }
        return false;
    }

    /**
     * The traffic class of a differentiated services code point.
     *
     * @param dscp code point, 0 to 255; the network uses 0 to 63.
     * @return value for the tclass attributes, for instance 0x12e for 46.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the value needs more than eight bits.
     */
    public static int dscpSet(int dscp) {
        if (dscp < 0 || dscp > DSCP_MASK) {
            throw new FabricException(FabricErrno.EINVAL, "dscp is " + dscp + ", needed is 0 to " + DSCP_MASK,
                "Pass the code point itself, not shifted into the TOS byte.");
        }
        return DSCP.code | dscp;
    }

    /**
     * The differentiated services code point of a traffic class.
     *
     * @param tclass value of a tclass attribute.
     * @return the code point, or 0 if the class is not a code point.
     */
    public static int dscpGet(int tclass) {
        return (tclass & DSCP.code) != 0 ? tclass & DSCP_MASK : 0;
    }
}
