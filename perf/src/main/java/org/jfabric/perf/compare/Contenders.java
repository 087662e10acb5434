package org.jfabric.perf.compare;

import io.aeron.AeronVersion;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.PacketSocket;

/** Everything that can be measured, in the order in which a round goes through it. */
final class Contenders {
    static final String INVOKER = "jfabric-invoker";
    static final String ALL_LINKS = "jfabric-invoker-all-links";
    static final String MANY_RECEIVES = "jfabric-invoker-100000-receives";
    static final String ZERO_COPY = "jfabric-zero-copy";
    static final String LENT = "jfabric-lent";
    static final String LENT_READ = "jfabric-lent-read";
    static final String ICEORYX = "iceoryx";
    static final String REMOTE = "jfabric-remote";
    static final String DEDICATED = "jfabric-daemon-dedicated";
    static final String SHARED = "jfabric-daemon-shared";
    static final String AMONG_MANY = "jfabric-daemon-1000-endpoints";
    static final String TCP = "jfabric-tcp";
    static final String RXM = "jfabric-rxm";
    static final String UDP = "jfabric-udp";
    static final String UDP_SMALL_BATCHES = "jfabric-udp-batch-15";
    static final String PACKET = "jfabric-packet";
    /** Of the older build that is named on the command line. */
    static final String BASELINE = "jfabric-baseline";
    static final String POSTED = "jfabric-128-receives";
    static final String POSTED_BASELINE = "jfabric-baseline-128-receives";
    static final String ONE_THREAD = "jfabric-one-thread";
    static final String ONE_THREAD_BASELINE = "jfabric-baseline-one-thread";
    static final String FRESH = "jfabric-fresh";
    static final String SHARED_SHM = "jfabric-shared-shm";
    static final String SHARED_TCP = "jfabric-shared-tcp";
    static final String CONNECTION = "jfabric-tcp-connection";
    static final String GATEWAY = "jfabric-tcp-1000-connections";
    static final String BARE_TCP = "bare-tcp";
    static final String BARE_UDP = "bare-udp";
    static final String PACKET_CABLE = "jfabric-packet-cable";
    static final String BARE_UDP_CABLE = "bare-udp-cable";
    static final String AERON_IPC = "aeron-ipc";
    static final String AERON_UDP = "aeron-udp";
    static final String STREAM = "jfabric-stream";
    static final String STREAM_UNBOUND = "jfabric-stream-unbound";
    /** The same once more, so that both can be compared. */
    static final String STREAM_CONTROL = "jfabric-stream-unbound-control";
    static final String STREAM_RECORDED = "jfabric-stream-recorded";
    static final String HOSTS = "jfabric-stream-udp";
    static final String HOSTS_3 = "jfabric-stream-udp-3";
    static final String HOSTS_CABLE = "jfabric-stream-udp-cable";
    static final String AERON_HOSTS_3 = "aeron-udp-3";
    static final String AERON_UDP_CABLE = "aeron-udp-cable";
    static final String RECORDING = "jfabric-recording";
    static final String TABLE = "jfabric-table";
    static final String ARCHIVE = "aeron-archive";
    static final String CHRONICLE = "chronicle-queue";
    static final String BARE_FILE = "bare-file";
    static final String HAND_OVER = "hand-over";
    /** Of the probe only. */
    static final String BARE_HAND_OVER = "bare-hand-over";
    static final String COPY = "copy";

    static final String MIXED = "jfabric-mixed";
    static final String CLIENTS = "jfabric-4-clients";
    /** How many peers the systems in one thread have. */
    private static final List<Integer> DESTINATIONS = List.of(2, 8, 64);
    private static final List<Integer> CONNECTED = List.of(1, 10, 100);

    /** All names, for the command line. */
    static final List<String> IDS = Stream.concat(Stream.of(INVOKER, ALL_LINKS, BASELINE, MANY_RECEIVES, ZERO_COPY,
        LENT, LENT_READ, ICEORYX, REMOTE, POSTED, POSTED_BASELINE, ONE_THREAD, ONE_THREAD_BASELINE, DEDICATED, SHARED,
        AMONG_MANY, AERON_IPC,
        UcxTool.POSIX.id(), LibfabricTool.SHM.id(), TCP, BARE_TCP, LibfabricTool.TCP.id(),
        UcxTool.TCP.id(), CONNECTION, GATEWAY,
        RXM, LibfabricTool.RXM.id(), UDP, UDP_SMALL_BATCHES, PACKET, BARE_UDP, PACKET_CABLE,
        BARE_UDP_CABLE, AERON_UDP, SHARED_SHM, SHARED_TCP, FRESH,
        STREAM, stream(3), stream(10), stream(100), aeronReaders(3), STREAM_UNBOUND, STREAM_CONTROL, STREAM_RECORDED,
        HOSTS, HOSTS_3, AERON_HOSTS_3, HOSTS_CABLE, AERON_UDP_CABLE,
        RECORDING, ARCHIVE, CHRONICLE, BARE_FILE, TABLE, HAND_OVER, COPY),
        inOneThread("", Long.MAX_VALUE).stream().map(JvmContender.Definition::id)).toList();

    private static final int ANY_SIZE = Integer.MAX_VALUE;
    /** Shared memory of two systems with a hundred drivers each. */
    private static final long IN_ONE_THREAD_BYTES = 1L << 30;
    private static final String NO_PACKET_SOCKETS = " is left out: packet sockets need CAP_NET_RAW.";
    /** Longest message with many receives: each receive has a place of its own when contents are compared. */
    private static final int MANY_RECEIVES_MOST_BYTES = 1024;

    private Contenders() {
    }

    /** Makes them; no process is started yet. */
    static List<Contender> all(RigSettings settings, String jfabric) throws InterruptedException {
        String java = System.getProperty("java.vm.version");
        Set<Pass> all = Set.of(Pass.EXCHANGE, Pass.STREAM, Pass.PACED);
        Set<Pass> exchange = Set.of(Pass.EXCHANGE);
        Set<Pass> stream = Set.of(Pass.STREAM);
        Set<Pass> remote = Set.of(Pass.PUT, Pass.PUT_STREAM, Pass.GET, Pass.FETCH_ADD);
        List<JvmContender.Definition> definitions = new ArrayList<>(List.of(
            new JvmContender.Definition(INVOKER, "JFabric, embedded INVOKER, shm", jfabric,
                pair(SideKind.JFABRIC_INVOKER), all, ANY_SIZE, 2, true),
            new JvmContender.Definition(ALL_LINKS, "JFabric, the same after using the other links too", jfabric,
                pair(SideKind.JFABRIC_INVOKER_ALL_LINKS), all, ANY_SIZE, 2, false),
            new JvmContender.Definition(MANY_RECEIVES, "JFabric, the same with 100,000 receives posted", jfabric,
                pair(SideKind.JFABRIC_INVOKER_MANY_RECEIVES), stream, MANY_RECEIVES_MOST_BYTES, 2, true),
            new JvmContender.Definition(ZERO_COPY, "JFabric, the same with zero-copy receive, untagged", jfabric,
                pair(SideKind.JFABRIC_ZERO_COPY), stream, ZeroCopyPort.MOST_BYTES, 2, true),
            new JvmContender.Definition(REMOTE, "JFabric, embedded INVOKER, shm, remote memory access", jfabric,
                pair(SideKind.JFABRIC_REMOTE), remote, ANY_SIZE, 2, true),
            new JvmContender.Definition(DEDICATED, "JFabric, to itself through a daemon, DEDICATED", jfabric,
                self(SideKind.JFABRIC_DEDICATED, SideKind.JFABRIC_SELF), exchange, ANY_SIZE, 1, true),
            new JvmContender.Definition(SHARED, "JFabric, to itself through a daemon, SHARED", jfabric,
                self(SideKind.JFABRIC_SHARED, SideKind.JFABRIC_SELF), exchange, ANY_SIZE, 1, true),
            new JvmContender.Definition(AMONG_MANY, "JFabric, the same DEDICATED with 1,000 endpoints open", jfabric,
                self(SideKind.JFABRIC_DEDICATED, SideKind.JFABRIC_SELF_AMONG_MANY), Set.of(Pass.EXCHANGE, Pass.COLD),
                ANY_SIZE, 1, false),
            new JvmContender.Definition(FRESH, "JFabric, embedded INVOKER, shm, in processes that are new, "
                + (hasAotCache() ? "with an" : "without an") + " AOT cache", jfabric,
                pair(SideKind.JFABRIC_INVOKER), Set.of(Pass.FRESH), ANY_SIZE, 2, false, freshLaunch(), null),
            new JvmContender.Definition(AERON_IPC, "Aeron IPC", AeronVersion.VERSION,
                with(pair(SideKind.AERON_IPC), SideKind.AERON_DRIVER), all, ANY_SIZE, 2, false),
            new JvmContender.Definition(TCP, "JFabric, embedded INVOKER, tcp", jfabric,
                pair(SideKind.JFABRIC_TCP), all, ANY_SIZE, 2, true),
            new JvmContender.Definition(RXM, "JFabric, embedded INVOKER, rxm over tcp", jfabric,
                pair(SideKind.JFABRIC_RXM), all, ANY_SIZE, 2, true),
            new JvmContender.Definition(UDP, "JFabric, embedded INVOKER, datagrams over udp", jfabric,
                pair(SideKind.JFABRIC_UDP), Set.of(Pass.EXCHANGE, Pass.STREAM), DatagramPort.MOST_BYTES, 2, true),
            new JvmContender.Definition(AERON_UDP, "Aeron UDP, invoker", AeronVersion.VERSION,
                pair(SideKind.AERON_UDP), all, ANY_SIZE, 2, false),
            new JvmContender.Definition(HAND_OVER, "hand-over of a cache line", java,
                Map.of(SideRole.PING, SideKind.HAND_OVER), Set.of(Pass.EXCHANGE, Pass.PACED), ANY_SIZE, 2, false),
            new JvmContender.Definition(COPY, "plain copy in memory", java,
                Map.of(SideRole.PING, SideKind.COPY), stream, ANY_SIZE, 1, false)));
        definitions.addAll(otherSetups(jfabric, java));
        definitions.addAll(streams(jfabric));
        definitions.addAll(hosts(jfabric));
        definitions.addAll(logs(jfabric, java));
        definitions.addAll(inOneThread(jfabric, settings.directory().toFile().getUsableSpace()));
        definitions.addAll(comparedWithTheBaseline(settings.baseline(), jfabric));
        List<Contender> contenders = new ArrayList<>();
        for (JvmContender.Definition definition : definitions) {
            contenders.add(new JvmContender(definition, settings));
        }
        for (NativeContender.NativeTool tool : List.of(
            UcxTool.POSIX, UcxTool.TCP, LibfabricTool.SHM, LibfabricTool.TCP, LibfabricTool.RXM)) {
            contenders.add(new NativeContender(tool, settings));
        }
        // the order of the names: what is compared stands together
        contenders.sort(Comparator.comparing(contender -> IDS.indexOf(contender.id())));
        return contenders;
    }

    private static JvmContender.Definition iceoryx() throws InterruptedException {
        String version = IceoryxLibrary.version();
        return new JvmContender.Definition(ICEORYX, "iceoryx, messages that are lent, first word read",
            version == null ? "not installed" : version, with(pair(SideKind.ICEORYX), SideKind.ICEORYX_DAEMON),
            Set.of(Pass.EXCHANGE), ANY_SIZE, 2, false, Launch.USUAL, version != null ? null
                : ICEORYX + " is left out: install Debian's iceoryx and libiceoryx-binding-c2.");
    }

    private static List<JvmContender.Definition> otherSetups(String jfabric, String java) throws InterruptedException {
        Set<Pass> exchange = Set.of(Pass.EXCHANGE);
        List<JvmContender.Definition> definitions = throughTwoDaemons(jfabric);
        definitions.addAll(cabled(jfabric, java));
        definitions.addAll(List.of(
            new JvmContender.Definition(UDP_SMALL_BATCHES, "JFabric, the same in batches too short to be joined",
                jfabric, pair(SideKind.JFABRIC_UDP), Set.of(Pass.STREAM), DatagramPort.MOST_BYTES, 2, true,
                new Launch(List.of("-Djfabric.udp.batchSize=15"), null), null),
            new JvmContender.Definition(BARE_TCP, "two loops over sockets, tcp", java,
                pair(SideKind.BARE_TCP), exchange, ANY_SIZE, 2, false),
            new JvmContender.Definition(BARE_UDP, "two loops over sockets, udp", java,
                pair(SideKind.BARE_UDP), exchange, BarePort.MOST_DATAGRAM_BYTES, 2, false),
            new JvmContender.Definition(PACKET, "JFabric, embedded INVOKER, datagrams by packet sockets", jfabric,
                pair(SideKind.JFABRIC_PACKET), exchange, DatagramPort.MOST_BYTES, 2, true, Launch.USUAL,
                isPermitted() ? null : PACKET + NO_PACKET_SOCKETS),
            new JvmContender.Definition(LENT, "JFabric, embedded INVOKER, shm, lent messages, first byte read", jfabric,
                pair(SideKind.JFABRIC_LENT), exchange, ANY_SIZE, 2, true),
            new JvmContender.Definition(LENT_READ, "JFabric, the same with every byte read", jfabric,
                pair(SideKind.JFABRIC_LENT_READ), exchange, ANY_SIZE, 2, true),
            iceoryx(),
            new JvmContender.Definition(CONNECTION, "JFabric, embedded INVOKER, one connection over tcp", jfabric,
                pair(SideKind.JFABRIC_CONNECTION), exchange, ANY_SIZE, 2, false),
            new JvmContender.Definition(GATEWAY,
                "JFabric, the same with 1,000 connections that share a receive context", jfabric,
                pair(SideKind.JFABRIC_GATEWAY), exchange, ANY_SIZE, 2, false)));
        return definitions;
    }

    /** A publication and its subscriptions. */
    private static List<JvmContender.Definition> streams(String jfabric) {
        Set<Pass> stream = Set.of(Pass.STREAM);
        Set<Pass> burst = Set.of(Pass.BURST);
        Set<Pass> write = Set.of(Pass.WRITE);
        String title = "JFabric, embedded INVOKER, publication and ";
        JvmContender.Definition one = new JvmContender.Definition(STREAM, title + "1 subscription", jfabric,
            pair(SideKind.JFABRIC_STREAM), Set.of(Pass.EXCHANGE, Pass.STREAM, Pass.BURST), ANY_SIZE, 2, true);
        Map<SideRole, SideKind> recorded = pair(SideKind.JFABRIC_STREAM_RECORDED);
        return List.of(one,
            new JvmContender.Definition(stream(3), title + "3 subscriptions", jfabric, pair(SideKind.JFABRIC_STREAM),
                stream, ANY_SIZE, 2, true, Launch.peers(ManyPeersSide.Pattern.TURN, 3), null),
            new JvmContender.Definition(stream(10), title + "10 subscriptions", jfabric, pair(SideKind.JFABRIC_STREAM),
                burst, ANY_SIZE, 2, false, Launch.peers(ManyPeersSide.Pattern.TURN, 10), null),
            new JvmContender.Definition(stream(100), title + "100 subscriptions", jfabric,
                pair(SideKind.JFABRIC_STREAM), burst, ANY_SIZE, 2, false,
                Launch.peers(ManyPeersSide.Pattern.TURN, 100), null),
            new JvmContender.Definition(aeronReaders(3), "Aeron IPC, publication and 3 subscriptions",
                AeronVersion.VERSION, with(pair(SideKind.AERON_IPC), SideKind.AERON_DRIVER), stream, ANY_SIZE, 2,
                false, Launch.peers(ManyPeersSide.Pattern.TURN, 3), null),
            new JvmContender.Definition(STREAM_UNBOUND, title + "1 subscription, bound to no core", jfabric,
                pair(SideKind.JFABRIC_STREAM), write, ANY_SIZE, 2, false, Launch.UNBOUND, null),
            new JvmContender.Definition(STREAM_CONTROL, title + "1 subscription, bound to no core, once more", jfabric,
                pair(SideKind.JFABRIC_STREAM), write, ANY_SIZE, 2, false, Launch.UNBOUND, null),
            new JvmContender.Definition(STREAM_RECORDED, title + "1 subscription, bound to no core, recorded", jfabric,
                recorded, write, ANY_SIZE, 2, false, Launch.UNBOUND, null));
    }

    /** A publication whose subscriptions are on other hosts. */
    private static List<JvmContender.Definition> hosts(String jfabric) throws InterruptedException {
        Set<Pass> both = Set.of(Pass.EXCHANGE, Pass.STREAM);
        Set<Pass> stream = Set.of(Pass.STREAM);
        Launch three = Launch.peers(ManyPeersSide.Pattern.TURN, 3);
        String title = "JFabric, embedded INVOKER, publication and subscription over udp";
        String noCable = Cable.missing(Installation.ofPath(System.getenv()));
        return List.of(
            new JvmContender.Definition(HOSTS, title, jfabric, pair(SideKind.JFABRIC_STREAM_HOSTS), both, ANY_SIZE, 2,
                true),
            new JvmContender.Definition(HOSTS_3, title + ", 3 hosts in one thread", jfabric,
                pair(SideKind.JFABRIC_STREAM_HOSTS), stream, ANY_SIZE, 2, true, three, null),
            new JvmContender.Definition(AERON_HOSTS_3, "Aeron UDP, invoker, 3 hosts in one thread",
                AeronVersion.VERSION, pair(SideKind.AERON_UDP), stream, ANY_SIZE, 2, false, three, null),
            new JvmContender.Definition(HOSTS_CABLE, title + ", over a cable", jfabric,
                pair(SideKind.JFABRIC_STREAM_HOSTS), both, ANY_SIZE, 2, true, Launch.CABLED,
                noCable == null ? null : HOSTS_CABLE + noCable),
            new JvmContender.Definition(AERON_UDP_CABLE, "Aeron UDP, invoker, over a cable", AeronVersion.VERSION,
                pair(SideKind.AERON_UDP), both, ANY_SIZE, 2, false, Launch.CABLED,
                noCable == null ? null : AERON_UDP_CABLE + noCable));
    }

    /** What writes to a disk and reads from it; and the table. */
    private static List<JvmContender.Definition> logs(String jfabric, String java) {
        Set<Pass> all = Set.of(Pass.RECORD, Pass.COMMIT, Pass.REPLAY);
        return List.of(
            new JvmContender.Definition(RECORDING, "JFabric, embedded INVOKER, recorded publication and LogReader",
                jfabric, Map.of(SideRole.PING, SideKind.JFABRIC_RECORDING), all, ANY_SIZE, 1, false, Launch.UNBOUND,
                null),
            new JvmContender.Definition(ARCHIVE, "Aeron Archive, recorded IPC publication and replay",
                AeronVersion.VERSION, self(SideKind.AERON_ARCHIVE_DRIVER, SideKind.AERON_ARCHIVE),
                Set.of(Pass.RECORD, Pass.REPLAY), ArchiveJournal.MOST_BYTES, 1, false, Launch.UNBOUND, null),
            new JvmContender.Definition(CHRONICLE, "Chronicle Queue, appender and tailer", ChronicleJournal.version(),
                Map.of(SideRole.PING, SideKind.CHRONICLE), all, ANY_SIZE, 1, false, ChronicleJournal.LAUNCH, null),
            new JvmContender.Definition(BARE_FILE, "a write and a fdatasync for each message", java,
                Map.of(SideRole.PING, SideKind.BARE_FILE), Set.of(Pass.COMMIT), ANY_SIZE, 1, false, Launch.UNBOUND,
                null),
            new JvmContender.Definition(TABLE, "JFabric, table of newest values, a reader, 1,024 keys in turn",
                jfabric, Map.of(SideRole.PING, SideKind.JFABRIC_TABLE), Set.of(Pass.GET), TableSide.MOST_BYTES, 1,
                false));
    }

    private static List<JvmContender.Definition> cabled(String jfabric, String java) throws InterruptedException {
        Set<Pass> exchange = Set.of(Pass.EXCHANGE);
        String noCable = Cable.missing(Installation.ofPath(System.getenv()));
        return List.of(
            new JvmContender.Definition(PACKET_CABLE, "JFabric, datagrams by packet sockets, over a cable", jfabric,
                pair(SideKind.JFABRIC_PACKET), exchange, DatagramPort.MOST_BYTES, 2, true, Launch.CABLED,
                noCable != null ? PACKET_CABLE + noCable : isPermitted() ? null : PACKET_CABLE + NO_PACKET_SOCKETS),
            new JvmContender.Definition(BARE_UDP_CABLE, "two loops over sockets, udp, over a cable", java,
                pair(SideKind.BARE_UDP), exchange, BarePort.MOST_DATAGRAM_BYTES, 2, false, Launch.CABLED,
                noCable == null ? null : BARE_UDP_CABLE + noCable));
    }

    /** One sender to destinations in turn, as many senders with a receiver each, and the like. */
    private static List<JvmContender.Definition> inOneThread(String jfabric, long freeBytes) {
        List<JvmContender.Definition> all = new ArrayList<>();
        for (int count : DESTINATIONS) {
            all.add(inOneThread(turn(count), "one sender to " + count + " receivers in turn",
                SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.TURN, count));
            all.add(inOneThread(pairs(count), count + " senders, each to its own receiver, in turn",
                SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.PAIRS, count));
        }
        for (int count : CONNECTED) {
            all.add(inOneThread(first(count), "the first of " + count + " connected senders to one receiver",
                SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.FIRST, count));
            all.add(inOneThread(last(count), "the last of " + count + " connected senders to one receiver",
                SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.LAST, count));
            all.add(inOneThread(group(count), "the writer of a group and " + count + " readers",
                SideKind.JFABRIC_GROUP, ManyPeersSide.Pattern.TURN, count));
        }
        all.add(inOneThread(MIXED, "48 KiB in one message of 256",
            SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.MIXED, 1));
        all.add(inOneThread(CLIENTS, "4 clients, whose requests one server answers",
            SideKind.JFABRIC_ONE_THREAD, ManyPeersSide.Pattern.REQUESTS, 4));
        String tooFew = freeBytes >= IN_ONE_THREAD_BYTES ? null : String.format(Locale.ROOT,
            " is left out: up to 200 drivers need %d MiB of shared memory, and %d are free.",
            IN_ONE_THREAD_BYTES >> 20, freeBytes >> 20);
        return all.stream().map(each -> each.as(jfabric, tooFew == null ? null : each.id() + tooFew)).toList();
    }

    private static JvmContender.Definition inOneThread(String id, String title, SideKind kind,
        ManyPeersSide.Pattern pattern, int peers) {
        return new JvmContender.Definition(id, "JFabric, in one thread, shm: " + title, "",
            Map.of(SideRole.PING, kind), Set.of(Pass.EXCHANGE),
            kind == SideKind.JFABRIC_GROUP ? GroupSide.MOST_BYTES : ANY_SIZE,
            pattern == ManyPeersSide.Pattern.REQUESTS ? 2 : 1, false, Launch.peers(pattern, peers), null);
    }

    static String turn(int destinations) {
        return "jfabric-turn-" + destinations;
    }

    static String pairs(int destinations) {
        return "jfabric-pairs-" + destinations;
    }

    static String first(int connected) {
        return "jfabric-first-of-" + connected;
    }

    static String last(int connected) {
        return "jfabric-last-of-" + connected;
    }

    static String group(int readers) {
        return "jfabric-group-" + readers;
    }

    static String stream(int readers) {
        return STREAM + '-' + readers;
    }

    static String aeronReaders(int readers) {
        return AERON_IPC + '-' + readers + "-readers";
    }

    private static List<JvmContender.Definition> throughTwoDaemons(String jfabric) {
        List<JvmContender.Definition> definitions = new ArrayList<>();
        for (String id : List.of(SHARED_SHM, SHARED_TCP)) {
            boolean tcp = id.equals(SHARED_TCP);
            Map<SideRole, SideKind> sides = with(
                pair(tcp ? SideKind.JFABRIC_WAITING_TCP : SideKind.JFABRIC_WAITING_SHM),
                SideKind.JFABRIC_SHARED_UNBOUND);
            sides.put(SideRole.PING_DRIVER, SideKind.JFABRIC_SHARED_UNBOUND);
            definitions.add(new JvmContender.Definition(id, "JFabric, two daemons, SHARED, and clients that sleep, "
                + (tcp ? "tcp" : "shm"), jfabric, sides, Set.of(Pass.EXCHANGE), ANY_SIZE, 2, false, Launch.UNBOUND,
                null));
        }
        return definitions;
    }

    /** Returns the contenders that are compared with the older build, and the older build if there is one. */
    private static List<JvmContender.Definition> comparedWithTheBaseline(Baseline baseline, String jfabric) {
        Set<Pass> exchange = Set.of(Pass.EXCHANGE);
        JvmContender.Definition posted = new JvmContender.Definition(POSTED,
            "JFabric, embedded INVOKER, shm, 128 receives posted, two peers", jfabric, pair(SideKind.JFABRIC_POSTED),
            exchange, ANY_SIZE, 2, false);
        JvmContender.Definition oneThread = new JvmContender.Definition(ONE_THREAD,
            "JFabric, two drivers in mode INVOKER in one thread, shm", jfabric,
            Map.of(SideRole.PING, SideKind.JFABRIC_ONE_THREAD), exchange, ANY_SIZE, 1, false);
        String version = baseline == null ? "not given" : baseline.version();
        Launch launch = new Launch(List.of(), baseline == null ? null : baseline.classPath());
        String noSides = baseline != null && !baseline.ownSides() ? null : "is left out: "
            + (baseline == null ? "--baseline-jar names no older build."
            : "the older build has sides of its own, without this one.");
        return List.of(posted, oneThread,
            new JvmContender.Definition(BASELINE, "JFabric of the older build, embedded INVOKER, shm", version,
                pair(SideKind.JFABRIC_INVOKER), Set.of(Pass.EXCHANGE, Pass.STREAM, Pass.PACED), ANY_SIZE, 2, false,
                launch, baseline != null ? null : BASELINE + " is left out: --baseline-jar names no older build."),
            posted.as(POSTED_BASELINE, "JFabric of the older build, 128 receives posted, two peers", launch)
                .as(version, noSides == null ? null : POSTED_BASELINE + ' ' + noSides),
            oneThread.as(ONE_THREAD_BASELINE, "JFabric of the older build, two drivers in one thread, shm", launch)
                .as(version, noSides == null ? null : ONE_THREAD_BASELINE + ' ' + noSides));
    }

    private static boolean isPermitted() {
        int fd = PacketSocket.openReceiver();
        if (fd >= 0) {
            Libc.close(fd);
        }
        return fd >= 0;
    }

    /** Returns true if new processes use an AOT cache: the launcher's, or one that was given to this process. */
    private static boolean hasAotCache() {
        return !freshLaunch().flags().isEmpty() || ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .anyMatch(flag -> flag.startsWith("-XX:AOTCache="));
    }

    /** With the cache that the launcher has made, its profiles included; a machine that it does not fit ignores it. */
    private static Launch freshLaunch() {
        String cache = System.getenv("JFABRIC_AOT_CACHE");
        return cache == null ? Launch.USUAL
            : new Launch(List.of("-XX:AOTCache=" + cache, "-Xlog:aot=off", "-Xlog:cds=off"), null);
    }

    private static Map<SideRole, SideKind> pair(SideKind kind) {
        return new EnumMap<>(Map.of(SideRole.PONG, kind, SideRole.PING, kind));
    }

    private static Map<SideRole, SideKind> self(SideKind daemon, SideKind client) {
        return new EnumMap<>(Map.of(SideRole.DRIVER, daemon, SideRole.PING, client));
    }

    private static Map<SideRole, SideKind> with(Map<SideRole, SideKind> sides, SideKind driver) {
        sides.put(SideRole.DRIVER, driver);
        return sides;
    }
}
