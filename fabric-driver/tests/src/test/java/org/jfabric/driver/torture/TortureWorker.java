package org.jfabric.driver.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * An application in a process of its own that may be killed at any time: it sends the messages of its conversations,
 * receives those of others, accesses the memory of the receivers, and compares every byte. What must outlive it is in
 * files: the {@link Ledger} of each conversation, the memory that it receives into, and its {@link RemoteArea}.
 *
 * <pre>
 *  open CELL DIRECTORY FOLDER NUMBER SEED   ready ADDRESS AREA  a fabric and an endpoint are there
 *  listen CONVERSATION                      listening           its messages are expected
 *  send CONVERSATION ADDRESS AREA           sending             and continues until its end
 *  end CONVERSATION                         ended NS            nothing of it is outstanding, since that time
 *  settle                                   settled             all that was posted before has ended
 *  census                                   census HEAP         bytes in use after a collection
 *  quit                                     closed              in order, then the process ends
 *                                           failed CONVERSATION ERRNO      its first failure
 *                                           fault TEXT          what must not be
 *                                           gone TEXT           of the driver; what it had written was read
 * </pre>
 */
final class TortureWorker {
    static final int RECEIVES = 32;
    static final int SENDS = 8;

    private static final int SEND_CONTEXT = 1_000;
    private static final long TAGS = 3;
    private static final long IDLE_NS = 50_000;
    private static final long LONGEST_REFUSAL_NS = 5_000_000_000L;
    private static final long PACE = SENDS;

    /** What is sent to one receiver. */
    private static final class Outgoing {
        final int conversation;
        final Ledger ledger;
        final long dest;
        final Accesses accesses;
        int outstanding;
        boolean isEnding;
        boolean hasFailed;
        long endNs;

        Outgoing(int conversation, Ledger ledger, long dest, Accesses accesses) {
            this.conversation = conversation;
            this.ledger = ledger;
            this.dest = dest;
            this.accesses = accesses;
        }

        boolean isOutstanding() {
            return outstanding + accesses.outstanding() > 0;
        }
    }

    private final Queue<String> commands = new ConcurrentLinkedQueue<>();
    private final Map<Integer, Outgoing> outgoing = new HashMap<>();
    private final Expected expected = new Expected();
    private final long[] receives = new long[RECEIVES];
    private final Outgoing[] sends = new Outgoing[SENDS];
    private final long[] numbers = new long[SENDS];
    private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
    private final ArrayDeque<Outgoing> waiting = new ArrayDeque<>();
    private Cell cell;
    private Path folder;
    private SplittableRandom random;
    private FabricDriver driver;
    private FabricNode node;
    private MemoryRegion region;
    private UnsafeBuffer memory;
    private RemoteArea area = RemoteArea.NONE;
    private UnsafeBuffer areaMemory;
    /** Whose accesses are outstanding, or were last. */
    private Outgoing accessing;
    private volatile String gone;
    /** The first operation that was answered with FI_EOPBADSTATE, null if there was none; and when. */
    private String refused;
    private long refusedNs;
    private long posted;
    private boolean isGone;
    private boolean isSettling;
    private boolean isQuitting;

    private TortureWorker() {
    }

    public static void main(String[] args) throws IOException {
        TortureWorker worker = new TortureWorker();
        Thread reader = new Thread(worker::hear, "commands");
        reader.setDaemon(true);
        reader.start();
        say("started");
        try {
            worker.run();
        } catch (RuntimeException | Error e) {
            say("fault " + e);
            e.printStackTrace(System.out);
            Runtime.getRuntime().halt(3);
        }
        // threads of the driver that are left would keep the process
        say("closed");
        Runtime.getRuntime().halt(0);
    }

    static Path memoryPath(Path folder, int number) {
        return folder.resolve(number + ".memory");
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private void hear() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                commands.add(line);
            }
        } catch (IOException e) {
            say("fault " + e);
        }
        // the controller has ended
        Runtime.getRuntime().halt(4);
    }

    private void run() throws IOException {
        while (!isQuitting) {
            String command = commands.poll();
            if (command != null) {
                obey(command.split(" "));
            }
            boolean worked = node != null && !isGone && step();
            if (!worked && command == null) {
                LockSupport.parkNanos(IDLE_NS);
            }
        }
        if (node != null) {
            node.close();
        }
        if (driver != null) {
            driver.close();
        }
    }

    private void obey(String[] words) throws IOException {
        switch (words[0]) {
            case "open" -> open(words);
            case "listen" -> {
                int conversation = Integer.parseInt(words[1]);
                expected.listen(conversation, Ledger.open(folder, conversation));
                if (area.isThere()) {
                    RemoteArea.clear(areaMemory, conversation);
                }
                say("listening");
            }
            case "send" -> {
                send(Integer.parseInt(words[1]), words[2], RemoteArea.parse(words, 3));
                say("sending");
            }
            case "end" -> {
                Outgoing ending = outgoing.get(Integer.parseInt(words[1]));
                ending.isEnding = true;
                waiting.add(ending);
            }
            case "settle" -> isSettling = true;
            case "census" -> {
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                say("census " + (runtime.totalMemory() - runtime.freeMemory()));
            }
            case "quit" -> isQuitting = true;
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private void open(String[] words) throws IOException {
        cell = Cell.parse(words[1]);
        Path directory = Path.of(words[2]);
        folder = Path.of(words[3]);
        int number = Integer.parseInt(words[4]);
        random = new SplittableRandom(Long.parseLong(words[5]));
        FabricConfig config = new FabricConfig().clientName("worker-" + number).listener(new FabricListener() {
            @Override
            public void onDriverGone(FabricException why) {
                gone = why.getMessage().replace('\n', ' ');
            }
        });
        Fabric fabric;
        if (cell.isDaemon()) {
            fabric = Fabric.connect(config.directory(directory));
        } else {
            driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(directory)
                .threadingMode(cell.embedded()).set("jfabric.link.enabled", Cell.LINKS)
                .set("jfabric.tcp.interface", "lo").build());
            fabric = driver.fabric(config);
        }
        if (!cell.isDaemon()) {
            Canaries.start(folder, fault -> say("fault " + fault));
        }
        node = new FabricNode(fabric, cell.link(), cell.hints(), 256, number, () -> { });
        openMemory(number);
        if (cell.isReliable()) {
            openArea(number);
        }
        for (int slot = 0; slot < RECEIVES; slot++) {
            receive(slot);
        }
        for (int slot = 0; slot < SENDS; slot++) {
            freeSends.add(slot);
        }
        say("ready " + node.endpoint.name() + ' ' + area.words());
    }

    private void send(int conversation, String address, RemoteArea remote) throws IOException {
        Ledger ledger = Ledger.open(folder, conversation);
        long dest = node.av.insert(address);
        accessing = new Outgoing(conversation, ledger, dest,
            new Accesses(node, conversation, ledger, dest, remote, random));
        outgoing.put(conversation, accessing);
    }

    /** Memory that peers access: a region of a file, or where the link lets peers access it a copied mapping of one. */
    private void openArea(int number) throws IOException {
        Path path = RemoteArea.path(folder, number);
        MemoryRegionAttr attr = new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE)
            .requestedKey(number);
        MemoryRegion remote;
        boolean isCopied = cell.hasAccessesByCopy() && random.nextInt(4) == 0;
        if (isCopied) {
            MemorySegment segment = map(path, RemoteArea.LENGTH);
            areaMemory = new UnsafeBuffer(segment.address(), RemoteArea.LENGTH);
            remote = node.domain.register(segment, attr);
        } else {
            try {
                remote = node.domain.allocatePersistent(path, RemoteArea.LENGTH, attr);
            } catch (FabricException e) {
                // the folder is in a file system of memory
                if (e.errno() != FabricErrno.EOPNOTSUPP) {
                    throw e;
                }
                return;
            }
            areaMemory = new UnsafeBuffer(remote.buffer(), 0, RemoteArea.LENGTH);
        }
        area = new RemoteArea(remote.key(), remote.remoteAddress(), cell.hasAtomics() && !isCopied);
    }

    private static MemorySegment map(Path path, long length) throws IOException {
        try (FileChannel channel = FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, length, Arena.global());
        }
    }

    /** Memory of this process over the file, or a region of it: both keep what came when this process is killed. */
    private void openMemory(int number) throws IOException {
        long length = (long) (RECEIVES + SENDS) * Payload.LONGEST;
        Path path = memoryPath(folder, number);
        // over tcp and rxm a message is confirmed also if it cannot be copied to a process that has just ended
        if (random.nextBoolean() || cell.link().equals("rxm") || cell.link().equals("tcp")) {
            try {
                region = node.domain.allocatePersistent(path, length);
                memory = new UnsafeBuffer(region.buffer(), 0, (int) length);
                return;
            } catch (FabricException e) {
                // the folder is in a file system of memory
                if (e.errno() != FabricErrno.EOPNOTSUPP) {
                    throw e;
                }
            }
        }
        MemorySegment segment = map(path, length);
        region = node.domain.register(segment);
        memory = new UnsafeBuffer(segment.address(), (int) length);
    }

    private boolean step() {
        try {
            checkRefusal();
            boolean worked = readSome();
            if (gone != null && !worked) {
                onGone();
                return false;
            }
            boolean sent = gone == null && !isSettling && sendSome();
            answer();
            return worked || sent;
        } catch (AssertionError e) {
            // a queue whose driver has ended, read to its end
            if (e.getMessage() == null || !e.getMessage().contains("FI_ENODEV")) {
                throw e;
            }
            if (gone != null) {
                onGone();
            }
            return false;
        }
    }

    private void onGone() {
        isGone = true;
        say("gone " + gone);
    }

    /** Those who wait for the end of operations. */
    private void answer() {
        while (!waiting.isEmpty() && !waiting.peek().isOutstanding()) {
            Outgoing ended = waiting.remove();
            say("ended " + ended.endNs);
            outgoing.remove(ended.conversation);
            if (node.fabric.isOpen()) {
                node.av.remove(ended.dest);
            }
            ended.ledger.close();
        }
        if (isSettling && freeSends.size() == SENDS && (accessing == null || accessing.accesses.outstanding() == 0)) {
            isSettling = false;
            say("settled");
        }
    }

    private boolean sendSome() {
        boolean worked = false;
        for (Outgoing each : outgoing.values()) {
            if (!each.isEnding && !each.hasFailed && !freeSends.isEmpty() && each.ledger.posted() < Ledger.CAPACITY
                && (!cell.isPaced() || each.ledger.posted() - each.ledger.taken() < PACE)) {
                worked |= send(each);
            }
            if (!each.isEnding && !each.hasFailed && each == accessing) {
                worked |= access(each);
            }
        }
        return worked;
    }

    private boolean send(Outgoing to) {
        int slot = freeSends.peek();
        int offset = (RECEIVES + slot) * Payload.LONGEST;
        long number = to.ledger.posted();
        int length = Payload.length(random, cell.longest());
        Payload.write(memory, offset, to.conversation, number, length);
        int result = cell.isReliable()
            ? node.endpoint.messages().tsendmsg(
                region.address(offset), length, 0, to.dest, number & TAGS, SEND_CONTEXT + slot,
                cell.level() | Flags.COMPLETION)
            : node.endpoint.send(region.address(offset), length, to.dest, SEND_CONTEXT + slot);
        if (result == 0) {
            freeSends.remove();
            sends[slot] = to;
            numbers[slot] = number;
            to.outstanding++;
            to.ledger.onPosted();
        } else if (result != -FabricErrno.EAGAIN) {
            to.hasFailed |= isFault("a send", result);
        }
        return result == 0;
    }

    private boolean access(Outgoing to) {
        int result = to.accesses.post();
        if (result < 0) {
            to.hasFailed |= isFault("an access", result);
        }
        return result > 0;
    }

    /** Whether an operation that was not taken is a fault. Calls are refused before the listener hears of the end. */
    private boolean isFault(String operation, int result) {
        if (gone != null || !node.fabric.isOpen()) {
            return false;
        }
        if (result == -FabricErrno.EOPBADSTATE) {
            if (refused == null) {
                refused = operation;
                refusedNs = System.nanoTime();
            }
            return false;
        }
        say("fault " + operation + " was answered with " + FabricErrno.name(-result));
        return true;
    }

    /** The end of the driver must explain a refusal, and soon. */
    private void checkRefusal() {
        if (refused != null && gone == null && node.fabric.isOpen()
            && System.nanoTime() - refusedNs > LONGEST_REFUSAL_NS) {
            say("fault " + refused + " was answered with FI_EOPBADSTATE, and the driver has not ended");
            refused = null;
        }
    }

    private boolean readSome() {
        boolean worked = false;
        for (int i = 0; i < 16; i++) {
            FabricNode.Entry entry = node.poll();
            if (entry == null) {
                break;
            }
            worked = true;
            if (entry.context() >= Accesses.CONTEXT) {
                onAccessed(entry);
            } else if (entry.context() >= SEND_CONTEXT) {
                onSent((int) entry.context() - SEND_CONTEXT, entry);
            } else {
                onReceive((int) entry.context(), entry);
            }
        }
        return worked;
    }

    private void onSent(int slot, FabricNode.Entry entry) {
        Outgoing to = sends[slot];
        if (to == null) {
            say("fault an entry of a send that is not outstanding: " + entry);
            return;
        }
        sends[slot] = null;
        freeSends.add(slot);
        to.outstanding--;
        to.endNs = System.nanoTime();
        if (entry.err() == 0) {
            to.ledger.onDelivered(numbers[slot]);
            return;
        }
        onFailed(to, entry);
    }

    private void onAccessed(FabricNode.Entry entry) {
        String fault = accessing.accesses.onEntry(entry);
        accessing.endNs = System.nanoTime();
        if (fault != null) {
            say("fault " + fault + ", conversation " + accessing.conversation);
        }
        if (entry.err() != 0) {
            onFailed(accessing, entry);
        }
    }

    private static void onFailed(Outgoing to, FabricNode.Entry entry) {
        to.ledger.onFailed();
        if (!to.hasFailed) {
            to.hasFailed = true;
            say("failed " + to.conversation + ' ' + FabricErrno.name(entry.err()));
        }
    }

    private void onReceive(int slot, FabricNode.Entry entry) {
        int offset = slot * Payload.LONGEST;
        if (entry.err() != 0) {
            // the sender has died in the middle of it
            say("cut " + FabricErrno.name(entry.err()));
            receive(slot);
            return;
        }
        String fault = Payload.fault(memory, offset, entry.len());
        int conversation = fault == null ? Payload.conversation(memory, offset) : 0;
        Expected.Incoming from = expected.get(conversation);
        if (fault == null && from == null) {
            fault = "a message of conversation " + conversation + ", which is not expected";
        }
        if (fault == null) {
            long number = Payload.number(memory, offset);
            fault = !from.ledger.onReceived(number) ? "message " + number + " came twice"
                : cell.isReliable() ? from.order.onMatched(number, receives[slot]) : null;
        }
        if (fault != null) {
            say("fault " + fault + ", conversation " + conversation + ", in " + entry);
        }
        Payload.clear(memory, offset);
        receive(slot);
        if (from != null) {
            from.ledger.onTaken();
        }
    }

    private void receive(int slot) {
        receives[slot] = posted++;
        long address = region.address((long) slot * Payload.LONGEST);
        int result = cell.isReliable()
            ? node.endpoint.trecv(address, Payload.LONGEST, -1L, random.nextInt(4), TAGS, slot)
            : node.endpoint.recv(address, Payload.LONGEST, -1L, slot);
        if (result != 0) {
            isFault("a receive", result);
        }
    }
}
