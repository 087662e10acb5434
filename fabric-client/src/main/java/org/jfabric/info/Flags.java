package org.jfabric.info;

import java.util.Locale;

/**
 * The flag bits that libfabric shares between several 64-bit words, without the {@code FI_} prefix.
 *
 * <p>Use: {@code new Info().caps(Flags.TAGGED | Flags.SOURCE)}.
 *
 * <p>The meaning of a bit depends on the word it stands in: bit 59, for instance, is {@link #CLAIM} in operation flags,
 * {@link #DIRECTED_RECV} in capabilities and {@link #SELECTIVE_COMPLETION} when binding a completion queue. Test a bit
 * only in its own word, and print a word with {@link #toString(long, Kind)}, which knows the difference. Bits 60 to 63
 * are provider specific. Mode bits are in {@link Mode}, ordering bits in {@link Order}, registration modes in
 * {@link MrMode}. Source: fi_getinfo(3), section Capabilities; fi_cq(3), section Completion Flags; fi_endpoint(3),
 * sections fi_ep_bind and Operation Flags; bits of libfabric 1.18. Constants only; any thread.
 */
public final class Flags {
    /**
     * Bit 1. Capability: untagged messages. Completion: an untagged message operation, together with {@link #SEND} or
     * {@link #RECV}.
     */
    public static final long MSG = 0x2L;

    /**
     * Bit 2. Capability: remote memory access. Completion: an RMA operation, together with one of the four read and
     * write directions.
     */
    public static final long RMA = 0x4L;

    /**
     * Bit 3. Capability: tagged messages. Completion: a tagged message operation, together with {@link #SEND} or
     * {@link #RECV}. Atomic query: the operation as tagged atomic.
     */
    public static final long TAGGED = 0x8L;

    /** Bit 4. Capability: atomic operations on remote memory. Completion: an atomic operation. */
    public static final long ATOMIC = 0x10L;

    /**
     * Bit 5. Capability: multicast groups. Operation: every destination is a multicast address. Completion: a multicast
     * operation, together with {@link #MSG}.
     */
    public static final long MULTICAST = 0x20L;

    /** Bit 6. Capability: collective operations. */
    public static final long COLLECTIVE = 0x40L;

    /**
     * Bit 8. Capability: starts RMA and atomic reads. Completion: a read started on this side. Counter bind: counts
     * them. Registration access: the region may receive read results.
     */
    public static final long READ = 0x100L;

    /**
     * Bit 9. Capability: starts RMA and atomic writes. Completion: a write started on this side. Counter bind: counts
     * them. Registration access: the region may be the source of writes. Event queue open: the application inserts
     * events.
     */
    public static final long WRITE = 0x200L;

    /**
     * Bit 10. Capability: receives messages. Completion: a receive. CQ and counter bind: inbound messages. Operation
     * defaults: selects the receive direction.
     */
    public static final long RECV = 0x400L;

    /**
     * Bit 11. Capability: sends messages. Completion: a send. Counter bind: counts sends. Same bit as
     * {@link #TRANSMIT}.
     */
    public static final long SEND = 0x800L;

    /**
     * Bit 11. CQ bind: outbound operations. Operation defaults: selects the transmit direction. Same bit as
     * {@link #SEND}.
     */
    public static final long TRANSMIT = 0x800L;

    /**
     * Bit 12. Capability: peers may read this memory. Completion: a read started by a peer. Counter bind: counts them.
     * Registration access: peers may read the region.
     */
    public static final long REMOTE_READ = 0x1000L;

    /**
     * Bit 13. Capability: peers may write this memory. Completion: a write started by a peer. Counter bind: counts
     * them. Registration access: peers may write the region.
     */
    public static final long REMOTE_WRITE = 0x2000L;

    /**
     * Bit 16. Capability: buffers that take several messages. Receive operation: the posted buffer takes several
     * messages. Completion: the buffer named by the context is used up and released.
     */
    public static final long MULTI_RECV = 0x1_0000L;

    /**
     * Bit 17. Transmit operation: the call carries CQ data for the peer. Completion: the data member is valid.
     */
    public static final long REMOTE_CQ_DATA = 0x2_0000L;

    /**
     * Bit 18. Operation: more requests follow at once, so submission may be delayed. Completion: only a part of a
     * buffered message is referenced, the rest must be claimed.
     */
    public static final long MORE = 0x4_0000L;

    /**
     * Bit 19. Tagged receive: asks whether a message has arrived, without receiving it. Event queue read: leaves the
     * event in the queue.
     */
    public static final long PEEK = 0x8_0000L;

    /**
     * Bit 20. Capability and operation: the operation is deferred until a counter reaches a threshold.
     */
    public static final long TRIGGER = 0x10_0000L;

    /**
     * Bit 21. Capability and transmit operation: starts only after earlier operations to the same peer have completed.
     */
    public static final long FENCE = 0x20_0000L;

    /**
     * Bit 24. Operation: writes a completion entry, on a CQ bound with {@link #SELECTIVE_COMPLETION}; ignored
     * elsewhere. Same bit as {@link #EVENT}.
     */
    public static final long COMPLETION = 0x100_0000L;

    /**
     * Bit 24. Address vector open: insertions report through the event queue. Same bit as {@link #COMPLETION}.
     */
    public static final long EVENT = 0x100_0000L;

    /**
     * Bit 25. Transmit operation: the source buffer is free again when the call returns; bounded by the inject size.
     */
    public static final long INJECT = 0x200_0000L;

    /** Bit 26. Operation level: completes when the source buffer may be reused. */
    public static final long INJECT_COMPLETE = 0x400_0000L;

    /**
     * Bit 27. Operation level: completes when the local provider no longer has to track the operation; on reliable
     * endpoints the data is at the peer endpoint.
     */
    public static final long TRANSMIT_COMPLETE = 0x800_0000L;

    /**
     * Bit 28. Operation level: completes when the destination endpoint has processed the operation.
     */
    public static final long DELIVERY_COMPLETE = 0x1000_0000L;

    /** Bit 29. CQ and event queue open: the signaling vector is valid. */
    public static final long AFFINITY = 0x2000_0000L;

    /** Bit 30. Operation level: completes when the data is persistent at the peer. */
    public static final long COMMIT_COMPLETE = 0x4000_0000L;

    /**
     * Bit 31. Operation level: completes when the message has been matched with a receive at the peer.
     */
    public static final long MATCH_COMPLETE = 0x8000_0000L;

    /** Bit 36. Object open: endpoint of a peer provider that transfers on behalf of another one. */
    public static final long PEER_TRANSFER = 0x10_0000_0000L;

    /**
     * Bit 41. Capability and address vector insertion: the application supplies the id that is reported as source.
     */
    public static final long AV_USER_ID = 0x200_0000_0000L;

    /** Bit 43. Object open: the object belongs to a peer provider. */
    public static final long PEER = 0x800_0000_0000L;

    /**
     * Bit 44. Capability: operations triggered by an accelerator. Same bit as {@link #XPU}.
     */
    public static final long XPU_TRIGGER = 0x1000_0000_0000L;

    /**
     * Bit 44. Capability: operations triggered by an accelerator, the name used by the manual pages. Same bit as
     * {@link #XPU_TRIGGER}.
     */
    public static final long XPU = 0x1000_0000_0000L;

    /** Bit 45. Registration flag: device memory that the host can access. */
    public static final long HMEM_HOST_ALLOC = 0x2000_0000_0000L;

    /** Bit 46. Registration flag: device memory that only the device can access. */
    public static final long HMEM_DEVICE_ONLY = 0x4000_0000_0000L;

    /**
     * Bit 45. Capability of API version 2.0 and later: as {@link #DIRECTED_RECV}, for tagged receives only. Not
     * offered.
     */
    public static final long TAGGED_DIRECTED_RECV = 0x2000_0000_0000L;

    /**
     * Bit 46. Capability of API version 2.0 and later: tagged receives may post buffers that take several messages.
     */
    public static final long TAGGED_MULTI_RECV = 0x4000_0000_0000L;

    /** Bit 47. Capability: transfers to and from device memory. */
    public static final long HMEM = 0x8000_0000_0000L;

    /**
     * Bit 48. Capability up to API version 1.18: messages of a size that the receiver does not know in advance. Same
     * bit as {@link #EXACT_DIRECTED_RECV}.
     */
    public static final long VARIABLE_MSG = 0x1_0000_0000_0000L;

    /**
     * Bit 48. Capability of API version 2.0 and later: every receive names its source, and
     * {@link FabricAddress#ADDR_UNSPEC} is refused. Same bit as {@link #VARIABLE_MSG}.
     */
    public static final long EXACT_DIRECTED_RECV = 0x1_0000_0000_0000L;

    /** Bit 49. Capability and registration flag: persistent memory as target of RMA. */
    public static final long RMA_PMEM = 0x2_0000_0000_0000L;

    /**
     * Bit 50. Capability: an unknown source is reported as an error entry with its raw address; needs {@link #SOURCE}.
     */
    public static final long SOURCE_ERR = 0x4_0000_0000_0000L;

    /** Bit 51. Capability: reaches peers on the same host. */
    public static final long LOCAL_COMM = 0x8_0000_0000_0000L;

    /** Bit 52. Capability: reaches peers on other hosts. */
    public static final long REMOTE_COMM = 0x10_0000_0000_0000L;

    /** Bit 53. Capability: address vectors shared between processes by name. */
    public static final long SHARED_AV = 0x20_0000_0000_0000L;

    /** Bit 54. Info query: return provider attributes without checking hints or devices. */
    public static final long PROV_ATTR_ONLY = 0x40_0000_0000_0000L;

    /** Bit 55. Info query: the node is a numeric address; no name is resolved. */
    public static final long NUMERICHOST = 0x80_0000_0000_0000L;

    /**
     * Bit 56. Capability and registration flag: accesses by peers are counted or reported at the target; needs
     * {@link #REMOTE_READ} or {@link #REMOTE_WRITE}.
     */
    public static final long RMA_EVENT = 0x100_0000_0000_0000L;

    /**
     * Bit 57. Capability: reads report the source address. Info query: node and service name the local side.
     */
    public static final long SOURCE = 0x200_0000_0000_0000L;

    /** Bit 58. Capability: transfers address a receive context of a scalable endpoint. */
    public static final long NAMED_RX_CTX = 0x400_0000_0000_0000L;

    /** Bit 58. Receive operation: gives up a claimed or buffered message. */
    public static final long DISCARD = 0x400_0000_0000_0000L;

    /**
     * Bit 58. Address vector insertion: the error of each address is stored in the array given as context.
     */
    public static final long SYNC_ERR = 0x400_0000_0000_0000L;

    /** Bit 58. Atomic query: the fetching form is meant. */
    public static final long FETCH_ATOMIC = 0x400_0000_0000_0000L;

    /** Bit 59. Capability: a receive matches only messages of the source it names. */
    public static final long DIRECTED_RECV = 0x800_0000_0000_0000L;

    /**
     * Bit 59. Receive operation: reserves the peeked message, or retrieves a claimed or buffered one. Completion: the
     * receive claimed buffered data.
     */
    public static final long CLAIM = 0x800_0000_0000_0000L;

    /**
     * Bit 59. CQ bind: only operations with {@link #COMPLETION} write entries; always with a direction bit.
     */
    public static final long SELECTIVE_COMPLETION = 0x800_0000_0000_0000L;

    /** Bit 59. Address vector open: every node holds the same endpoints. */
    public static final long SYMMETRIC = 0x800_0000_0000_0000L;

    /** Bit 59. Domain bind: registrations complete through the event queue. */
    public static final long REG_MR = 0x800_0000_0000_0000L;

    /** Bit 59. Atomic query: the comparing form is meant. */
    public static final long COMPARE_ATOMIC = 0x800_0000_0000_0000L;

    /**
     * Bit 34, of JFabric alone. Send: the message is handed over by reference, and its bytes stay the receiver's until
     * the entry. Completion: the message lies in its sender's memory ({@code FI_BUFFERED_RECV}).
     */
    public static final long LENT = 0x4_0000_0000L;

    /**
     * Bit 35, of JFabric alone. Operation level of sends to recorded groups: completes when the message is in the page
     * cache of the writer's host, so that it survives a kill of the driver.
     */
    public static final long RECORDED = 0x8_0000_0000L;

    /**
     * Bit 37, of JFabric alone. Capability: entries have the time at which a message arrived, over link udp also that
     * at which one left; in {@code rx_attr.caps} only the one, in {@code tx_attr.caps} only the other. Completion: the
     * entry has such a time ({@code Completion.timeNs()}). Never granted unless it is asked for. Times are those of the
     * system's clock ({@link TimestampClock#SYSTEM}).
     */
    public static final long TIMESTAMP = 0x20_0000_0000L;

    /**
     * Bit 38, of JFabric alone. Capability, with {@link #TIMESTAMP}: the times are those of the network card's own
     * clock ({@link TimestampClock#CARD}).
     */
    public static final long CARD_CLOCK = 0x40_0000_0000L;

    private static final int BITS = Long.SIZE;
    private static final String[][] NAMES_BY_KIND = new String[Kind.values().length][BITS];
    private static final long[] MASK_BY_KIND = new long[Kind.values().length];

    static {
        define(Kind.CAPABILITY,
            "MSG", MSG, "RMA", RMA, "TAGGED", TAGGED, "ATOMIC", ATOMIC, "MULTICAST", MULTICAST, "COLLECTIVE",
            COLLECTIVE, "READ", READ, "WRITE", WRITE, "RECV", RECV, "SEND", SEND, "REMOTE_READ", REMOTE_READ,
            "REMOTE_WRITE", REMOTE_WRITE, "MULTI_RECV", MULTI_RECV, "TRIGGER", TRIGGER, "FENCE", FENCE,
            "AV_USER_ID", AV_USER_ID, "XPU", XPU, "HMEM", HMEM, "VARIABLE_MSG", VARIABLE_MSG, "RMA_PMEM", RMA_PMEM,
            "SOURCE_ERR", SOURCE_ERR, "LOCAL_COMM", LOCAL_COMM, "REMOTE_COMM", REMOTE_COMM, "SHARED_AV", SHARED_AV,
            "RMA_EVENT", RMA_EVENT, "SOURCE", SOURCE, "NAMED_RX_CTX", NAMED_RX_CTX, "DIRECTED_RECV", DIRECTED_RECV,
            "TIMESTAMP", TIMESTAMP, "CARD_CLOCK", CARD_CLOCK);
        define(Kind.CAPABILITY_2,
            "MSG", MSG, "RMA", RMA, "TAGGED", TAGGED, "ATOMIC", ATOMIC, "MULTICAST", MULTICAST, "COLLECTIVE",
            COLLECTIVE, "READ", READ, "WRITE", WRITE, "RECV", RECV, "SEND", SEND, "REMOTE_READ", REMOTE_READ,
            "REMOTE_WRITE", REMOTE_WRITE, "MULTI_RECV", MULTI_RECV, "TRIGGER", TRIGGER, "FENCE", FENCE,
            "AV_USER_ID", AV_USER_ID, "TAGGED_DIRECTED_RECV", TAGGED_DIRECTED_RECV, "TAGGED_MULTI_RECV",
            TAGGED_MULTI_RECV, "HMEM", HMEM, "EXACT_DIRECTED_RECV", EXACT_DIRECTED_RECV, "RMA_PMEM", RMA_PMEM,
            "SOURCE_ERR", SOURCE_ERR, "LOCAL_COMM", LOCAL_COMM, "REMOTE_COMM", REMOTE_COMM, "SHARED_AV", SHARED_AV,
            "RMA_EVENT", RMA_EVENT, "SOURCE", SOURCE, "NAMED_RX_CTX", NAMED_RX_CTX, "DIRECTED_RECV", DIRECTED_RECV,
            "TIMESTAMP", TIMESTAMP, "CARD_CLOCK", CARD_CLOCK);
        define(Kind.COMPLETION,
            "MSG", MSG, "RMA", RMA, "TAGGED", TAGGED, "ATOMIC", ATOMIC, "MULTICAST", MULTICAST, "READ", READ,
            "WRITE", WRITE, "RECV", RECV, "SEND", SEND, "REMOTE_READ", REMOTE_READ, "REMOTE_WRITE", REMOTE_WRITE,
            "MULTI_RECV", MULTI_RECV, "REMOTE_CQ_DATA", REMOTE_CQ_DATA, "MORE", MORE, "CLAIM", CLAIM, "LENT", LENT,
            "TIMESTAMP", TIMESTAMP);
        define(Kind.OPERATION,
            "MULTICAST", MULTICAST, "MULTI_RECV", MULTI_RECV, "REMOTE_CQ_DATA", REMOTE_CQ_DATA, "MORE", MORE,
            "PEEK", PEEK, "TRIGGER", TRIGGER, "FENCE", FENCE, "COMPLETION", COMPLETION, "INJECT", INJECT, "LENT", LENT,
            "INJECT_COMPLETE", INJECT_COMPLETE, "TRANSMIT_COMPLETE", TRANSMIT_COMPLETE, "DELIVERY_COMPLETE",
            DELIVERY_COMPLETE, "COMMIT_COMPLETE", COMMIT_COMPLETE, "MATCH_COMPLETE", MATCH_COMPLETE, "RECORDED",
            RECORDED, "DISCARD", DISCARD, "CLAIM", CLAIM);
        define(Kind.OPERATION_DEFAULT,
            "MULTICAST", MULTICAST, "RECV", RECV, "TRANSMIT", TRANSMIT, "MULTI_RECV", MULTI_RECV, "REMOTE_CQ_DATA",
            REMOTE_CQ_DATA, "MORE", MORE, "PEEK", PEEK, "TRIGGER", TRIGGER, "FENCE", FENCE, "COMPLETION",
            COMPLETION, "INJECT", INJECT, "INJECT_COMPLETE", INJECT_COMPLETE, "TRANSMIT_COMPLETE",
            TRANSMIT_COMPLETE, "DELIVERY_COMPLETE", DELIVERY_COMPLETE, "COMMIT_COMPLETE", COMMIT_COMPLETE,
            "MATCH_COMPLETE", MATCH_COMPLETE, "DISCARD", DISCARD, "CLAIM", CLAIM);
        define(Kind.CQ_BIND,
            "RECV", RECV, "TRANSMIT", TRANSMIT, "SELECTIVE_COMPLETION", SELECTIVE_COMPLETION);
        define(Kind.COUNTER_BIND,
            "READ", READ, "WRITE", WRITE, "RECV", RECV, "SEND", SEND, "REMOTE_READ", REMOTE_READ, "REMOTE_WRITE",
            REMOTE_WRITE);
        define(Kind.CQ_OPEN,
            "AFFINITY", AFFINITY);
        define(Kind.EQ_OPEN,
            "WRITE", WRITE, "AFFINITY", AFFINITY);
        define(Kind.OBJECT_OPEN,
            "PEER_TRANSFER", PEER_TRANSFER, "PEER", PEER);
        define(Kind.MR_ACCESS,
            "READ", READ, "WRITE", WRITE, "RECV", RECV, "SEND", SEND, "REMOTE_READ", REMOTE_READ, "REMOTE_WRITE",
            REMOTE_WRITE);
        define(Kind.MR_REGISTER,
            "HMEM_HOST_ALLOC", HMEM_HOST_ALLOC, "HMEM_DEVICE_ONLY", HMEM_DEVICE_ONLY, "RMA_PMEM", RMA_PMEM,
            "RMA_EVENT", RMA_EVENT);
        define(Kind.INFO,
            "PROV_ATTR_ONLY", PROV_ATTR_ONLY, "NUMERICHOST", NUMERICHOST, "SOURCE", SOURCE);
        define(Kind.AV_OPEN,
            "READ", READ, "EVENT", EVENT, "SYMMETRIC", SYMMETRIC);
        define(Kind.AV_INSERT,
            "MORE", MORE, "AV_USER_ID", AV_USER_ID, "SYNC_ERR", SYNC_ERR);
        define(Kind.DOMAIN_BIND,
            "REG_MR", REG_MR);
        define(Kind.ATOMIC_QUERY,
            "TAGGED", TAGGED, "FETCH_ATOMIC", FETCH_ATOMIC, "COMPARE_ATOMIC", COMPARE_ATOMIC);
        define(Kind.EQ_READ,
            "PEEK", PEEK);
    }

    private Flags() {
    }

    /**
     * Which 64-bit word a flag stands in; it decides what a reused bit means.
     */
    public enum Kind {
        /** Capabilities: {@code caps} of info, domain, transmit and receive attributes. */
        CAPABILITY,

        /** As {@link #CAPABILITY}, in an info of API version 2.0 or later. */
        CAPABILITY_2,

        /** Completion flags: the flags member of a completion or error entry. */
        COMPLETION,

        /**
         * Operation flags: the flags argument of data transfer calls, and op_flags of transmit and receive
         * attributes.
         */
        OPERATION,

        /**
         * Operation flags with the direction bit, as endpoint alias and the commands that get and set operation
         * flags use them.
         */
        OPERATION_DEFAULT,

        /** Flags of binding a completion queue to an endpoint. */
        CQ_BIND,

        /** Flags of binding a counter to an endpoint. */
        COUNTER_BIND,

        /** The flags member of completion queue attributes. */
        CQ_OPEN,

        /** The flags member of event queue attributes. */
        EQ_OPEN,

        /** Open flags for objects of peer providers. */
        OBJECT_OPEN,

        /** Access rights of a memory registration. */
        MR_ACCESS,

        /** Flags of a memory registration. */
        MR_REGISTER,

        /** Flags of the discovery call. */
        INFO,

        /** The flags member of address vector attributes. */
        AV_OPEN,

        /** Flags of inserting into an address vector. */
        AV_INSERT,

        /** Flags of binding an event queue to a domain. */
        DOMAIN_BIND,

        /** Flags of asking which atomics are valid. */
        ATOMIC_QUERY,

        /** Flags of reading an event queue. */
        EQ_READ
    }

    /**
     * The bits that are defined in a word of the given kind, for refusing undefined ones.
     *
     * @param kind of word.
     * @return the union of all bits that have a meaning there.
     */
    public static long mask(Kind kind) {
        return MASK_BY_KIND[kind.ordinal()];
    }

    /**
     * Names of the bits set in a word, for messages and logs; allocates, so not for the data path.
     *
     * @param flags the word.
     * @param kind  of word; it decides what a reused bit is called.
     * @return names joined by {@code |}, {@code 0} for none; a bit without a meaning there is shown by its number.
     */
    public static String toString(long flags, Kind kind) {
        return names(flags, NAMES_BY_KIND[kind.ordinal()]);
    }

    static String names(long word, String[] nameByBit) {
        if (word == 0) {
            return "0";
        }
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < BITS; bit++) {
            if ((word & (1L << bit)) != 0) {
                if (!text.isEmpty()) {
                    text.append('|');
                }
                String name = nameByBit[bit];
                text.append(name == null ? String.format(Locale.ROOT, "bit%d?", bit) : name);
            }
        }
        return text.toString();
    }

    private static void define(Kind kind, Object... nameAndValue) {
        for (int i = 0; i < nameAndValue.length; i += 2) {
            long flag = (Long) nameAndValue[i + 1];
            NAMES_BY_KIND[kind.ordinal()][Long.numberOfTrailingZeros(flag)] = (String) nameAndValue[i];
            MASK_BY_KIND[kind.ordinal()] |= flag;
        }
    }
}
