package org.jfabric.perf.compare;

import org.jfabric.driver.config.ThreadingMode;

/** The sides that a process of the rig can be. */
enum SideKind {
    /** JFabric, a driver of its own in mode INVOKER, link shm. */
    JFABRIC_INVOKER,
    /** The same over the link tcp. */
    JFABRIC_TCP,
    /** The same over the link rxm. */
    JFABRIC_RXM,
    /** The same with datagrams over the link udp. */
    JFABRIC_UDP,
    /** The same over the link packet. */
    JFABRIC_PACKET,
    /** The same in a process that has used the other links as well. */
    JFABRIC_INVOKER_ALL_LINKS,
    /** The same with a hundred thousand receives posted where a stream arrives. */
    JFABRIC_INVOKER_MANY_RECEIVES,
    /** The same, with messages read where they are. */
    JFABRIC_ZERO_COPY,
    /** JFabric in mode INVOKER, link shm, messages that are lent and not read. */
    JFABRIC_LENT,
    /** The same, with every byte read. */
    JFABRIC_LENT_READ,
    /** JFabric in mode INVOKER, link shm, accesses to the other side's memory. */
    JFABRIC_REMOTE,
    /** A JFabric daemon in mode DEDICATED. */
    JFABRIC_DEDICATED,
    /** A JFabric daemon in mode SHARED. */
    JFABRIC_SHARED,
    /** A client of a JFabric daemon that sends to itself. */
    JFABRIC_SELF,
    /** The same with a thousand endpoints open. */
    JFABRIC_SELF_AMONG_MANY,
    /** JFabric in mode INVOKER with many receives posted, over some tags, and two peers. */
    JFABRIC_POSTED,
    /** JFabric, several drivers in one thread. */
    JFABRIC_ONE_THREAD,
    /** JFabric, a group's writer and its readers in one thread. */
    JFABRIC_GROUP,
    /** JFabric in mode INVOKER, a publication with its subscriptions in the other process, and one back. */
    JFABRIC_STREAM,
    /** The same; what the side that begins writes is recorded. */
    JFABRIC_STREAM_RECORDED,
    /** The same over udp, a driver for each subscription. */
    JFABRIC_STREAM_HOSTS,
    /** JFabric, a recorded publication without readers, and the reader of its log. */
    JFABRIC_RECORDING,
    /** JFabric, the reader of a table of newest values. */
    JFABRIC_TABLE,
    /** Aeron's media driver with its archive, for others. */
    AERON_ARCHIVE_DRIVER,
    /** A client of it, whose messages are recorded and replayed. */
    AERON_ARCHIVE,
    /** A Chronicle Queue. */
    CHRONICLE,
    /** A file that is written and synced. */
    BARE_FILE,
    /** A JFabric daemon in mode SHARED whose threads are bound to no core. */
    JFABRIC_SHARED_UNBOUND,
    /** A client of it that sleeps until a message over shm is there. */
    JFABRIC_WAITING_SHM,
    /** The same over tcp. */
    JFABRIC_WAITING_TCP,
    /** One connection over tcp, in mode INVOKER. */
    JFABRIC_CONNECTION,
    /** A thousand of them that share their receives, one with traffic. */
    JFABRIC_GATEWAY,
    /** A loop over a socket with a connection. */
    BARE_TCP,
    /** A loop over a socket for datagrams. */
    BARE_UDP,
    /** iceoryx's daemon, for others. */
    ICEORYX_DAEMON,
    /** A process that lends messages by iceoryx. */
    ICEORYX,
    /** Aeron's media driver, for others. */
    AERON_DRIVER,
    /** A client of it over shared memory. */
    AERON_IPC,
    /** Aeron over UDP, a media driver of its own run by the client's thread. */
    AERON_UDP,
    /** Two threads and one cache line. */
    HAND_OVER,
    /** Two threads and a cache line in each direction, without a port. */
    BARE_HAND_OVER,
    /** A copy in memory. */
    COPY;

    private static final int MANY = 1_000;

    /** Makes it, to be closed by the caller. */
    Side open(SideSettings settings) {
        return switch (this) {
            case JFABRIC_INVOKER -> new JFabricSide(settings, "shm", false, false);
            case JFABRIC_TCP -> new JFabricSide(settings, "tcp", false, false);
            case JFABRIC_RXM -> new JFabricSide(settings, "rxm", false, false);
            case JFABRIC_UDP -> new PortSide(settings, new DatagramPort("udp", settings));
            case JFABRIC_PACKET -> new PortSide(settings, new DatagramPort("packet", settings));
            case JFABRIC_INVOKER_ALL_LINKS -> new JFabricSide(settings, "shm", true, false);
            case JFABRIC_INVOKER_MANY_RECEIVES -> new JFabricSide(settings, "shm", false, true);
            case JFABRIC_ZERO_COPY -> new PortSide(settings, new ZeroCopyPort(settings));
            case JFABRIC_LENT -> new PortSide(settings, new LentPort(settings, false));
            case JFABRIC_LENT_READ -> new PortSide(settings, new LentPort(settings, true));
            case JFABRIC_REMOTE -> new RemoteSide(settings);
            case JFABRIC_DEDICATED -> new JFabricDaemon(settings, ThreadingMode.DEDICATED, true);
            case JFABRIC_SHARED -> new JFabricDaemon(settings, ThreadingMode.SHARED, true);
            case JFABRIC_SELF -> new JFabricSelf(settings, 1);
            case JFABRIC_SELF_AMONG_MANY -> new JFabricSelf(settings, MANY);
            case JFABRIC_POSTED -> new PostedSide(settings);
            case JFABRIC_ONE_THREAD -> new ManyPeersSide(
                settings.directory(), Launch.pattern(), Launch.peers(), settings.sizeBytes());
            case JFABRIC_GROUP -> new GroupSide(settings, Launch.peers());
            case JFABRIC_STREAM -> new PortSide(settings, new PublicationPort(settings, Launch.peers(),
                PublicationPort.Place.MEMORY));
            case JFABRIC_STREAM_RECORDED -> new PortSide(settings, new PublicationPort(settings, Launch.peers(),
                PublicationPort.Place.LOG));
            case JFABRIC_STREAM_HOSTS -> new PortSide(settings, new PublicationPort(settings, Launch.peers(),
                PublicationPort.Place.HOSTS));
            case JFABRIC_RECORDING -> new JournalSide(settings, new StreamJournal(settings));
            case JFABRIC_TABLE -> new TableSide(settings);
            case AERON_ARCHIVE_DRIVER -> new ArchiveJournal.Driver(settings);
            case AERON_ARCHIVE -> new JournalSide(settings, new ArchiveJournal(settings));
            case CHRONICLE -> new JournalSide(settings, new ChronicleJournal(settings));
            case BARE_FILE -> new JournalSide(settings, new FileJournal(settings));
            case JFABRIC_SHARED_UNBOUND -> new JFabricDaemon(settings, ThreadingMode.SHARED, false);
            case JFABRIC_WAITING_SHM -> new WaitingSide(settings, "shm");
            case JFABRIC_WAITING_TCP -> new WaitingSide(settings, "tcp");
            case JFABRIC_CONNECTION -> new PortSide(settings, new GatewayPort(settings, 1));
            case JFABRIC_GATEWAY -> new PortSide(settings, new GatewayPort(settings, MANY));
            case BARE_TCP -> new PortSide(settings, new BarePort.Tcp(settings));
            case BARE_UDP -> new PortSide(settings, new BarePort.Udp(settings));
            case ICEORYX_DAEMON -> new IceoryxDaemon();
            case ICEORYX -> new PortSide(settings, new IceoryxPort(settings));
            case AERON_DRIVER -> new AeronDriver(settings);
            case AERON_IPC -> new PortSide(settings, AeronPort.ipc(settings));
            case AERON_UDP -> new PortSide(settings, AeronPort.udp(settings));
            case HAND_OVER -> new HandOverSide(settings);
            case BARE_HAND_OVER -> new BareHandOverSide(settings);
            case COPY -> new CopySide(settings);
        };
    }

    /**
     * Whether threads beside the one that measures do part of the work: these may take the core from it, which is part
     * of the cost.
     */
    boolean hasThreads() {
        return switch (this) {
            case JFABRIC_STREAM_RECORDED, JFABRIC_RECORDING, AERON_ARCHIVE -> true;
            default -> false;
        };
    }
}
