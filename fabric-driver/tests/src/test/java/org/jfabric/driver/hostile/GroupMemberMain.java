package org.jfabric.driver.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.Table;
import org.jfabric.TableReader;
import org.jfabric.TableWriter;
import org.jfabric.WaitSet;
import org.jfabric.codec.control.FileHelloEncoder;
import org.jfabric.codec.control.FileWelcomeDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.wire.HelloDecoder;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.tool.ToolRun;

/** A process of some user that does what its input says, a line for each thing, and answers each with one line. */
final class GroupMemberMain {
    private static final String TABLE = "jfabric://shared/prices";
    private static final String GROUP = "jfabric://shared/quotes";
    static final int[] LENGTHS = {0, 8, 100, 9000, 200_000};

    private final Path directory;
    private final AtomicInteger driversGone = new AtomicInteger();
    private FabricNode node;
    private Publication publication;
    private Subscription subscription;

    private GroupMemberMain(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws IOException {
        GroupMemberMain member = new GroupMemberMain(Path.of(args[0]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            String answer;
            try {
                answer = member.obey(words);
            } catch (FabricException ex) {
                answer = "refused " + ex.errno() + ' ' + ex.getMessage();
            }
            System.out.println("answer " + answer.replace('\n', '|'));
            System.out.flush();
        }
    }

    private String obey(String[] words) throws IOException {
        return switch (words[0]) {
            case "connect" -> connect(words.length > 1 ? words[1] : "");
            case "send" -> send(words[1]);
            case "receive" -> receive();
            case "received" -> received();
            case "self" -> self();
            case "everything" -> everything(Path.of(words[1]));
            case "gone" -> gone();
            case "pry" -> pry(Long.parseLong(words[1]), Long.parseLong(words[2]));
            case "peer" -> peer();
            case "write" -> write(Long.parseLong(words[1]));
            case "read" -> read();
            case "reopen" -> reopen();
            case "publish" -> publish(Long.parseLong(words[1]));
            case "subscribe" -> subscribe();
            case "poll" -> poll();
            case "tool" -> tool(List.of(words).subList(1, words.length));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String connect(String driverUser) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        Fabric fabric = Fabric.connect(new FabricConfig().directory(directory).driverUser(driverUser)
            .listener(new FabricListener() {
                @Override
                public void onDriverGone(FabricException why) {
                    driversGone.incrementAndGet();
                }
            }));
        node = new FabricNode(fabric, "loopback", hints, 512, 0, () -> { });
        return node.endpoint.name();
    }

    private String send(String address) {
        long dest = node.av.insert(address);
        for (int i = 0; i < LENGTHS.length; i++) {
            node.fill(0, LENGTHS[i], i);
            node.endpoint.tsend(node.memory.address(0), LENGTHS[i], dest, i, i);
            node.await(i);
        }
        return "sent";
    }

    private String receive() {
        for (int i = 0; i < LENGTHS.length; i++) {
            node.endpoint.trecv(node.memory.address((i + 1L) << 20), 1 << 20, -1L, i, 0, 100 + i);
        }
        return "posted";
    }

    private String received() {
        for (int i = 0; i < LENGTHS.length; i++) {
            FabricNode.Entry entry = node.await();
            int message = (int) entry.context() - 100;
            if (entry.err() != 0 || entry.len() != LENGTHS[message]) {
                throw new AssertionError(entry);
            }
            node.assertFilled((message + 1L) << 20, LENGTHS[message], message);
        }
        return "received";
    }

    private String self() {
        long self = node.av.insert(node.endpoint.name());
        node.endpoint.trecv(node.memory.address(64), 8, -1L, 77, 0, 1);
        node.endpoint.tsend(node.memory.address(0), 8, self, 77, 1);
        node.await(1);
        node.await(1);
        return "arrived";
    }

    /** Uses each kind of file that a client shares with its driver, and each that it passes. */
    private String everything(Path folder) throws IOException {
        StringBuilder used = new StringBuilder();
        try (CompletionQueue queue = node.domain.openCompletionQueue(
            new CompletionQueueAttr().size(16).waitObject(WaitObject.FD))) {
            used.append("queue ").append(queue.tryWait());
            queue.signal();
        }
        try (Counter counter = node.domain.openCounter(new CounterAttr())) {
            counter.add(3);
            used.append(", counter ").append(counter.read());
        }
        try (WaitSet set = node.fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD))) {
            used.append(", set ").append(set.tryWait());
        }
        try (FabricNode buffered = new FabricNode(
            Fabric.connect(new FabricConfig().directory(directory).driverUser(user())), "loopback",
            new Info().caps(Flags.MSG | Flags.TAGGED).mode(Mode.BUFFERED_RECV), 64, 0, () -> { })) {
            long self = buffered.av.insert(buffered.endpoint.name());
            buffered.endpoint.send(buffered.memory.address(), 8, self, 1);
            used.append(", slab ").append(buffered.await().len() + buffered.await().len());
        }
        MemorySegment own = Arena.ofAuto().allocate(1 << 16, 4096);
        own.set(ValueLayout.JAVA_LONG, 0, 0x1234);
        try (MemoryRegion region = node.domain.register(own, new MemoryRegionAttr())) {
            long self = node.av.insert(node.endpoint.name());
            node.endpoint.trecv(node.memory.address(64), 8, -1L, 77, 0, 1);
            node.endpoint.tsend(region.address(), 8, self, 77, 1);
            node.await(1);
            node.await(1);
            used.append(", own memory ").append(Long.toHexString(node.memory.buffer().getLong(64)));
        }
        used.append(", file ").append(persist(folder));
        return used.toString();
    }

    private String persist(Path folder) {
        int fd = Libc.openDirectory(folder);
        boolean isStable = Libc.volatileFileSystem(fd) == null;
        Libc.close(fd);
        if (isStable) {
            node.domain.allocatePersistent(folder.resolve("region"), 4096, new MemoryRegionAttr()).close();
        }
        return isStable ? "used" : "not possible here";
    }

    private String user() throws IOException {
        return Files.getAttribute(directory, "unix:uid").toString();
    }

    private String gone() {
        Deadline.awaitParked("the end of the driver", () -> driversGone.get() > 0);
        return driversGone.toString();
    }

    /**
     * Tries to open each file in the directory, and over the socket for each client; only its own ones are passed.
     *
     * @param clientPid of another client.
     * @param driverPid of the driver.
     * @return what could be opened.
     */
    private String pry(long clientPid, long driverPid) throws IOException {
        List<String> opened = new ArrayList<>();
        List<String> files = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(directory)) {
            entries.forEach(entry -> files.add(entry.getFileName().toString()));
        }
        for (String file : files) {
            tryOpen(directory.resolve(file), opened);
        }
        for (long pid : new long[] {clientPid, driverPid}) {
            tryOpen(Path.of("/proc/" + pid + "/mem"), opened);
            for (String folder : List.of("fd", "map_files")) {
                try (var entries = Files.newDirectoryStream(Path.of("/proc/" + pid + '/' + folder))) {
                    entries.forEach(entry -> opened.add(entry.toString()));
                } catch (IOException expected) {
                    continue;
                }
            }
        }
        int asked = 0;
        for (String file : files) {
            for (FileType type : FileType.values()) {
                if (type == FileType.CNC || !file.matches("[0-9]+\\." + type.fileName(1).substring(2))) {
                    continue;
                }
                long number = Long.parseLong(file.substring(0, file.indexOf('.')));
                // clients, queues and endpoints share one sequence of numbers
                for (long client = 1; client <= 16; client++) {
                    asked++;
                    int fd = request(type, client, number);
                    if (fd >= 0) {
                        opened.add(file);
                        Libc.close(fd);
                    }
                }
            }
        }
        int cnc = request(FileType.CNC, 0, 0);
        if (cnc < 0) {
            throw new AssertionError("the cnc was refused: " + cnc);
        }
        if (Libc.isReadWrite(cnc)) {
            opened.add("cnc for writing");
        }
        tryOpen(Path.of("/proc/self/fd/" + cnc), opened);
        Libc.close(cnc);
        opened.sort(null);
        return asked + " requests opened " + opened;
    }

    private String write(long value) {
        TableWriter writer = Table.on(node.fabric, TABLE).slots(4).valueLength(64).openWriter();
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        buffer.putLong(0, value);
        return "written " + writer.put(7, buffer, 0, Long.BYTES);
    }

    /** Reads a value, and how the table is mapped. */
    private String read() throws IOException {
        TableReader reader = Table.on(node.fabric, TABLE).openReader();
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        int length = reader.read(reader.find(7), buffer, 0);
        return "read " + length + ' ' + buffer.getLong(0) + ' ' + mapped("table");
    }

    private String publish(long value) {
        if (publication == null) {
            publication = Publication.on(node.fabric, GROUP).open();
        }
        UnsafeBuffer message = new UnsafeBuffer(new byte[Long.BYTES]);
        message.putLong(0, value);
        return "published " + publication.offer(message, 0, Long.BYTES);
    }

    private String subscribe() throws IOException {
        subscription = Subscription.on(node.fabric, GROUP).open();
        return "subscribed " + mapped("group");
    }

    /** How the files with that suffix are mapped. */
    private static List<String> mapped(String suffix) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.endsWith('.' + suffix)).map(line -> line.split(" +")[1]).toList();
        }
    }

    private String poll() {
        long[] value = new long[1];
        Deadline.await("a message", () -> subscription.poll(
            (buffer, offset, length, header) -> value[0] = buffer.getLong(offset), 1) == 1, () -> subscription);
        return "message " + value[0];
    }

    /** Asks for tables as this client and as others, and tries to write what the driver passes. */
    private String reopen() throws IOException {
        List<String> opened = new ArrayList<>();
        int passed = 0;
        try (var entries = Files.newDirectoryStream(directory, "*.table")) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                for (long client = 1; client <= 32; client++) {
                    int fd = request(FileType.TABLE, client, Long.parseLong(name.substring(0, name.indexOf('.'))));
                    if (fd >= 0) {
                        passed++;
                        if (Libc.isReadWrite(fd)) {
                            opened.add(name + " for writing");
                        }
                        tryOpen(Path.of("/proc/self/fd/" + fd), opened);
                        Libc.close(fd);
                    }
                }
                tryOpen(entry, opened);
            }
        }
        return "passed " + passed + ", opened " + opened;
    }

    /** Begins as a driver that wants to share memory does; returns when the other one has closed the connection. */
    private String peer() {
        int socket = UnixSocket.connect(directory.resolve("driver.sock"), 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(64, 8);
            UnsafeBuffer buffer = new UnsafeBuffer(memory.address(), 64);
            buffer.putInt(0, MessageHeaderEncoder.ENCODED_LENGTH, ByteOrder.LITTLE_ENDIAN);
            new MessageHeaderEncoder().wrap(buffer, Integer.BYTES)
                .blockLength(HelloDecoder.BLOCK_LENGTH).templateId(HelloDecoder.TEMPLATE_ID)
                .schemaId(HelloDecoder.SCHEMA_ID).version(HelloDecoder.SCHEMA_VERSION);
            UnixSocket.send(socket, memory.address(), Integer.BYTES + MessageHeaderEncoder.ENCODED_LENGTH, 0);
            return "read " + UnixSocket.recv(socket, memory.address(), 1, 0);
        } finally {
            Libc.close(socket);
        }
    }

    private static void tryOpen(Path path, List<String> opened) {
        for (String mode : List.of("r", "rw")) {
            // of a descriptor that the driver has passed for reading, only writing is more than it may
            if (mode.equals("r") && path.startsWith("/proc/self")) {
                continue;
            }
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), mode)) {
                opened.add(path + " as " + mode + ' ' + file.getFD().valid());
            } catch (IOException expected) {
                continue;
            }
        }
    }

    /** Asks the driver for a file as a client does, and for those of others. */
    private int request(FileType type, long client, long number) {
        int socket = UnixSocket.connect(directory.resolve("driver.sock"), 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(2048, 8);
            UnsafeBuffer buffer = new UnsafeBuffer(memory.address(), 2048);
            FileHelloEncoder hello = new FileHelloEncoder()
                .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
                .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
                .fileType(type.code()).clientId(client).fileNumber(number);
            int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
            buffer.putInt(0, length, ByteOrder.LITTLE_ENDIAN);
            UnixSocket.send(socket, memory.address(), Integer.BYTES + length, 0);
            receive(socket, memory.address(), Integer.BYTES);
            receive(socket, memory.address(), buffer.getInt(0, ByteOrder.LITTLE_ENDIAN));
            int errno = new FileWelcomeDecoder().wrapAndApplyHeader(buffer, 0, new MessageHeaderDecoder()).errno();
            if (errno != 0) {
                return -errno;
            }
            return Deadline.awaitValue("a descriptor", () -> {
                int fd = UnixSocket.receiveDescriptor(socket);
                return fd < 0 ? null : fd;
            });
        } finally {
            Libc.close(socket);
        }
    }

    private static void receive(int socket, long address, int length) {
        for (int received = 0; received < length;) {
            int count = UnixSocket.recv(socket, address + received, length - received, 0);
            if (count <= 0) {
                throw new AssertionError("the driver answers " + count);
            }
            received += count;
        }
    }

    private static String tool(List<String> arguments) {
        ToolRun run = ToolRun.of(arguments.toArray(String[]::new));
        return run.status() + " " + (run.out() + run.err()).replace('\n', '|');
    }
}
