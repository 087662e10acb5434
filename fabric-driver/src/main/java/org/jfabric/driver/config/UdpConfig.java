package org.jfabric.driver.config;

/**
 * The udp link: sockets of datagram endpoints.
 */
public final class UdpConfig {
    /** Value of {@link #INTERFACE} that leaves the choice to the destination. */
    public static final String INTERFACE_AUTO = TcpConfig.ANY_INTERFACE;

    static final OptionGroup GROUP = new OptionGroup("udp", "The links udp and packet");

    /** {@code jfabric.udp.interface}. */
    public static final Option<String> INTERFACE = GROUP.name("jfabric.udp.interface")
        .defaultsTo(INTERFACE_AUTO)
        .rule("auto, or the name or an address of a network interface", name -> !name.isEmpty())
        .why("Interface whose address is used by endpoints that name none. auto takes the one that leads to the "
            + "destination, or else the first that is up, the loopback interface last. Of an interface the primary "
            + "address is taken.");

    /** {@code jfabric.udp.maxMessageBytes}. */
    public static final Option<Integer> MAX_MESSAGE_BYTES = GROUP.count("jfabric.udp.maxMessageBytes")
        .defaultsTo(1472)
        .range(64, 65507)
        .why("Longest message. 1472 bytes fit into one frame of an Ethernet and are what libfabric's udp provider "
            + "has; more is cut into fragments of which the loss of one loses all, unless the network has larger "
            + "frames. Both sides should have the same.");

    /** {@code jfabric.udp.batchSize}. */
    public static final Option<Integer> BATCH_SIZE = GROUP.count("jfabric.udp.batchSize")
        .defaultsTo(64)
        .range(1, 1024)
        .why("Datagrams sent or received with one system call at most. Raise it for bursts of different lengths or "
            + "to several peers; 16 and more datagrams of one length to one peer pass through the kernel as one.");

    /** {@code jfabric.udp.bufferBytes}. */
    public static final Option<Integer> BUFFER_BYTES = GROUP.intBytes("jfabric.udp.bufferBytes")
        .defaultsTo(2 << 20)
        .range(4 << 10, 1 << 30)
        .why("The kernel's room for datagrams of one endpoint that wait for a receive, and for those that wait for the "
            + "network; what does not fit is dropped on arrival. The kernel gives at most net.core.rmem_max and "
            + "net.core.wmem_max.");

    /** {@code jfabric.udp.busyPollMicros}. */
    public static final Option<Integer> BUSY_POLL_MICROS = GROUP.count("jfabric.udp.busyPollMicros")
        .defaultsTo(0)
        .range(0, 1_000_000)
        .why("Microseconds for which a receive without a datagram asks the network card itself, before its interrupt "
            + "(SO_BUSY_POLL; udp and dtls, sockets NATIVE); 0 leaves it to net.core.busy_read. It takes the time of "
            + "the progress thread. More than net.core.busy_read needs CAP_NET_ADMIN; without it sockets are not "
            + "polled. ./fabric info --why says whether it has an effect.");

    /** {@code jfabric.udp.sockets}. */
    public static final Option<Sockets> SOCKETS = GROUP.oneOf("jfabric.udp.sockets", Sockets.class)
        .defaultsTo(Sockets.NATIVE)
        .rule("NATIVE or NIO", sockets -> true)
        .why("NATIVE moves many datagrams with one system call and allocates nothing. NIO uses the JDK's channels, for "
            + "systems where the native calls do not work; the driver does not sleep then.");

    /** {@code jfabric.udp.peerRateBytes}. */
    public static final Option<Long> PEER_RATE_BYTES = GROUP.bytes("jfabric.udp.peerRateBytes")
        .defaultsTo(0L)
        .range(0L, 1L << 40)
        .why("Bytes in each second that an endpoint takes of one peer (udp, dtls), and of all senders together that "
            + "are not in its address vector; 0 for no limit. Datagrams above it are dropped and counted.");

    /** {@code jfabric.udp.peerRateMessages}. */
    public static final Option<Integer> PEER_RATE_MESSAGES = GROUP.count("jfabric.udp.peerRateMessages")
        .defaultsTo(0)
        .range(0, Integer.MAX_VALUE)
        .why("The same for the number of datagrams in each second, of any length.");

    /** {@code jfabric.udp.ringBytes}. */
    public static final Option<Long> RING_BYTES = GROUP.bytes("jfabric.udp.ringBytes")
        .defaultsTo(2L << 20)
        .range(64L << 10, 1L << 30)
        .why("Link packet: memory of the kernel, mapped by the driver, for datagrams of one endpoint that wait for a "
            + "receive. Endpoints with the address of a network have two of them. Each datagram takes the room of the "
            + "longest message; what does not fit is dropped on arrival and counted.");

    /** {@code jfabric.udp.streamKeyFile}. */
    public static final Option<String> STREAM_KEY_FILE = GROUP.name("jfabric.udp.streamKeyFile")
        .defaultsTo(DriverConfig.NO_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Keys of the groups that this driver sends to other hosts and reads from there: one or two lines of 64 "
            + "hexadecimal digits, the newest first, in a file that only its owner can read; see docs/security.md. "
            + "Read again when it has changed. Recorded groups then need link tls, too. With none such groups are "
            + "neither secret nor protected.");

    /** {@code jfabric.udp.streamSilenceNs}. */
    public static final Option<Long> STREAM_SILENCE_NS = GROUP.durationNs("jfabric.udp.streamSilenceNs")
        .defaultsTo(5_000_000_000L)
        .range(500_000_000L, 600_000_000_000L)
        .why("Streams between hosts: a host that has said nothing for so long is taken for dead. A writer waits no "
            + "longer for its readers, readers of its streams get FI_ECONNRESET. Living ones say something each 0.1 s, "
            + "or when their driver wakes. Lower it where a dead host must not hold up the others, raise it above the "
            + "longest failure of a network that is to lose nothing.");

    private UdpConfig() {
    }
}
