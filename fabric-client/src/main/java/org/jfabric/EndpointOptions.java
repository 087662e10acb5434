package org.jfabric;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.client.Attachment;
import org.jfabric.client.BufferedMode;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.HmemPeerToPeer;
import org.jfabric.info.Info;

/**
 * The options of one endpoint, their values and ranges.
 *
 * <p>Device memory is not offered, so the policy for it is stored without effect. Options of sockets are refused, and
 * so is reading or setting an option that does not allow it.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class EndpointOptions {
    /** Enough for the header of a message, and little enough that a buffer is used nearly whole. */
    static final long DEFAULT_MIN_MULTI_RECV = 64;
    /** The environment variable that overrides the policy for device memory. */
    static final String DISABLE_P2P = "FI_HMEM_DISABLE_P2P";

    private static final ByteOrder NATIVE = ByteOrder.nativeOrder();

    private final Info info;
    private final BufferedOptions buffered;
    private final boolean peerToPeerDisabled;
    private long minMultiRecvBytes = DEFAULT_MIN_MULTI_RECV;
    /** Of the enabled endpoint, 0 before. */
    private long txSize;
    private int cmDataSize;
    private long rxSize;
    private HmemPeerToPeer peerToPeer = HmemPeerToPeer.ENABLED;

    /** The options of an endpoint with that info, whose queue sizes follow them. */
    EndpointOptions(Info info, Attachment driver) {
        this(info, new BufferedOptions(driver), isSet(System.getenv(DISABLE_P2P)));
        cmDataSize = driver.cmDataSize();
    }

    EndpointOptions(Info info, BufferedOptions buffered, boolean peerToPeerDisabled) {
        this.info = info;
        this.buffered = buffered;
        this.peerToPeerDisabled = peerToPeerDisabled;
    }

    /** As libfabric reads boolean variables. */
    static boolean isSet(String value) {
        return value != null && (value.equals("1") || value.equalsIgnoreCase("true")
            || value.equalsIgnoreCase("yes") || value.equalsIgnoreCase("on"));
    }

    /** The option with those numbers. */
    static EndpointOption option(int level, int name) {
        if (level != EndpointOption.LEVEL_ENDPOINT) {
            throw new FabricException(FabricErrno.ENOPROTOOPT, "option level " + level + ", known is "
                + EndpointOption.LEVEL_ENDPOINT, "Use EndpointOption.LEVEL_ENDPOINT.");
        }
        if (name < 0 || name >= EndpointOption.values().length) {
            throw new FabricException(FabricErrno.ENOPROTOOPT, "option " + name + " is unknown",
                "Use a code of EndpointOption.");
        }
        return EndpointOption.of(name);
    }

    static long load(EndpointOption option, DirectBuffer value, int offset, int length) {
        requireInside(value, offset, length);
        if (length != option.lengthBytes()) {
            throw new FabricException(FabricErrno.EINVAL, "a value of " + length + " bytes, option " + option
                + " has " + option.lengthBytes(), "Ask EndpointOption.lengthBytes() first.");
        }
        return switch (length) {
            case Long.BYTES -> value.getLong(offset, NATIVE);
            case Integer.BYTES -> value.getInt(offset, NATIVE);
            // of a struct nothing is read: it belongs to an option that cannot be set
            default -> value.getByte(offset);
        };
    }

    /** Stores a value as fi_getopt does it; all options that can be read are integers of 4 or 8 bytes. */
    static int store(EndpointOption option, long content, MutableDirectBuffer value, int offset, int[] optlen) {
        if (optlen == null || optlen.length == 0) {
            return -FabricErrno.EINVAL;
        }
        int room = optlen[0];
        if (room != 0) {
            requireInside(value, offset, room);
        }
        optlen[0] = option.lengthBytes();
        if (room < option.lengthBytes()) {
            return -FabricErrno.ETOOSMALL;
        }
        if (option.lengthBytes() == Integer.BYTES) {
            value.putInt(offset, (int) content, NATIVE);
        } else {
            value.putLong(offset, content, NATIVE);
        }
        return 0;
    }

    long minMultiRecvBytes() {
        return minMultiRecvBytes;
    }

    /** The driver has made the queues. */
    void onEnabled(long newTxSize, long newRxSize) {
        txSize = newTxSize;
        rxSize = newRxSize;
    }

    long get(EndpointOption option) {
        return switch (option) {
            case MIN_MULTI_RECV -> {
                requireMultiReceive();
                yield minMultiRecvBytes;
            }
            case BUFFERED_MIN, BUFFERED_LIMIT -> {
                requireBuffered(option);
                yield buffered.get(option);
            }
            case TX_SIZE -> txSize != 0 ? txSize : info.txAttr().size();
            case RX_SIZE -> rxSize != 0 ? rxSize : info.rxAttr().size();
            case FI_HMEM_P2P -> (peerToPeerDisabled ? HmemPeerToPeer.DISABLED : peerToPeer).code();
            case CM_DATA_SIZE -> {
                if (!info.connects()) {
                    throw unsupported(option, "read");
                }
                yield cmDataSize;
            }
            case XPU_TRIGGER -> throw new FabricException(FabricErrno.EOPNOTSUPP,
                "no device of this host triggers operations", "Start operations by the processor.");
            default -> throw unsupported(option, "read");
        };
    }

    void set(EndpointOption option, long value, boolean enabled) {
        switch (option) {
            case MIN_MULTI_RECV -> {
                requireMultiReceive();
                requireRange(option, value, 0, Long.MAX_VALUE);
                minMultiRecvBytes = value;
            }
            case BUFFERED_MIN, BUFFERED_LIMIT -> {
                requireBuffered(option);
                buffered.set(option, value, enabled);
            }
            case TX_SIZE -> {
                requireSize(option, value, enabled);
                info.txAttr().size(value);
            }
            case RX_SIZE -> {
                requireSize(option, value, enabled);
                info.rxAttr().size(value);
            }
            case FI_HMEM_P2P -> peerToPeer(value);
            case CUDA_API_PERMITTED -> throw new FabricException(FabricErrno.EINVAL,
                "there is no CUDA library in use that could be permitted or forbidden", "Leave the option alone.");
            default -> throw unsupported(option, "set");
        }
    }

    private void peerToPeer(long value) {
        requireRange(EndpointOption.FI_HMEM_P2P, value, 0, HmemPeerToPeer.values().length - 1);
        HmemPeerToPeer wanted = HmemPeerToPeer.of((int) value);
        if (wanted == HmemPeerToPeer.REQUIRED) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "no link transfers straight between devices",
                "Use ENABLED, PREFERRED or DISABLED.");
        }
        peerToPeer = wanted;
    }

    BufferedOptions buffered() {
        return buffered;
    }

    private void requireBuffered(EndpointOption option) {
        if (!BufferedMode.isAskedFor(info)) {
            throw new FabricException(FabricErrno.ENOPROTOOPT, "option " + option + " of an endpoint without the mode "
                + "BUFFERED_RECV", "Ask for Mode.BUFFERED_RECV in the mode.");
        }
    }

    private void requireMultiReceive() {
        if ((info.caps() & Flags.MULTI_RECV) == 0 && !info.hasTaggedMultiReceive()) {
            throw new FabricException(FabricErrno.ENOPROTOOPT, "option MIN_MULTI_RECV of an endpoint without the "
                + "capability MULTI_RECV", "Ask for Flags.MULTI_RECV in the capabilities.");
        }
    }

    private static void requireSize(EndpointOption option, long value, boolean enabled) {
        if (enabled) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "option " + option + " of an endpoint that is enabled",
                "Set it before enabling: the queues are made then.");
        }
        requireRange(option, value, 1, Integer.MAX_VALUE);
    }

    private static void requireRange(EndpointOption option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new FabricException(FabricErrno.EINVAL, "option " + option + " is " + value + ", possible is "
                + least + " to " + most, "Use a value in the range.");
        }
    }

    private static void requireInside(DirectBuffer value, int offset, int length) {
        if (value == null || offset < 0 || length < 0 || offset > value.capacity() - length) {
            throw new FabricException(FabricErrno.EINVAL, length + " bytes at offset " + offset + " of "
                + (value == null ? "no buffer" : "a buffer of " + value.capacity()), "Give room inside of the buffer.");
        }
    }

    private static FabricException unsupported(EndpointOption option, String what) {
        return new FabricException(FabricErrno.ENOPROTOOPT, "option " + option + " cannot be " + what,
            "Options that endpoints of this version have are described in docs/multi-receive.md.");
    }
}
