package org.jfabric.driver;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.AddressReadyDecoder;
import org.jfabric.codec.control.AddressVectorReadyDecoder;
import org.jfabric.codec.control.ClientEndedDecoder;
import org.jfabric.codec.control.ClientHelloEncoder;
import org.jfabric.codec.control.ClientWelcomeDecoder;
import org.jfabric.codec.control.CntrEvents;
import org.jfabric.codec.control.CommandFailedDecoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.CounterReadyDecoder;
import org.jfabric.codec.control.EnableEndpointEncoder;
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.InfoFieldsEncoder;
import org.jfabric.codec.control.InsertAddressEncoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.OpenAddressVectorEncoder;
import org.jfabric.codec.control.OpenCompletionQueueEncoder;
import org.jfabric.codec.control.OpenCounterEncoder;
import org.jfabric.codec.control.RegionReadyDecoder;
import org.jfabric.codec.control.RegisterRegionEncoder;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.codec.queue.ReceiveRequestEncoder;
import org.jfabric.codec.queue.SendRequestEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;

/**
 * The least that a client can be: it says hello, writes commands and requests into the shared files, and reads what
 * comes back. It checks nothing and spares nothing, so that tests can be as wrong as a client can be.
 */
public final class ControlClient implements AutoCloseable {
    public static final long DEADLINE_NS = Deadline.ns(10);
    static final int INFO = EnableEndpointEncoder.infoEncodingOffset();

    public final Path directory;
    public final int fd;
    public final int dirFd;
    public final MappedFile control;
    public final RecordProducer commands;
    public final UnsafeBuffer commandRecords;
    public final RecordConsumer events;
    public final int ringLength;
    public long clientId;
    private final List<MappedFile> mapped = new ArrayList<>();
    private final ExpandableArrayBuffer body = new ExpandableArrayBuffer(1024);
    private final MappedFile cnc;
    private final Runnable idle;
    private long lastCorrelationId;
    private boolean closed;
    private boolean hungUp;

    /** An event as it came. */
    public record Event(int type, DirectBuffer body) {
        public long correlationId() {
            return body.getLong(0);
        }
    }

    /** An endpoint with everything that a test may break. */
    public static final class Queues {
        public long endpointId;
        public String address;
        public int activityIndex;
        public MappedFile tq;
        public RecordProducer transmit;
        public MappedFile rq;
        public RecordProducer receive;
        public MappedFile cq;
        public int cqCapacity;
        public long cqId;
        public long avId;
        public long read;
        /** Null without buffered receives. */
        public MappedFile slab;
        public int slabCells;
        public int slabCellLength;
    }

    /** Registered memory. */
    public record Region(MappedFile file, int index, long generation, long length) {
        public long address(long offset) {
            return MemoryRegionDescriptor.address(index, (int) generation & 0xFF, offset);
        }

        public long data() {
            return file.address() + MemoryRegionDescriptor.DATA_OFFSET;
        }
    }

    public ControlClient(Path directory, Runnable idle) {
        this(directory, idle, FileHeaderDescriptor.VERSION);
    }

    public ControlClient(Path directory, Runnable idle, int version) {
        this.directory = directory;
        this.idle = idle;
        fd = UnixSocket.connect(directory.resolve(DriverDirectory.SOCKET_NAME), UnixSocket.SOCK_NONBLOCK);
        if (fd < 0) {
            throw new IllegalStateException("connect: " + fd);
        }
        dirFd = Libc.openDirectory(directory);
        sendHello(version);
        UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024));
        int length = receiveMessage(message);
        ClientWelcomeDecoder welcome =
            new ClientWelcomeDecoder().wrapAndApplyHeader(message, Integer.BYTES, new MessageHeaderDecoder());
        if (length < ClientWelcomeDecoder.BLOCK_LENGTH || welcome.errno() != 0) {
            int errno = welcome.errno();
            String name = welcome.driverName();
            String reason = welcome.reason();
            close();
            throw new IllegalStateException("refused by " + name + " with " + errno + ": " + reason);
        }
        clientId = welcome.clientId();
        ringLength = welcome.commandRingLength();
        control = MappedFile.open(dirFd, FileType.CONTROL.fileName(welcome.controlFile()), false, 1);
        cnc = MappedFile.open(dirFd, CncDescriptor.FILE_NAME, true, 1);
        commands = producer(control.address(), ringLength);
        commandRecords = control.buffer(RecordRingDescriptor.HEADER_LENGTH, ringLength);
        long eventRing = control.address() + ControlFileDescriptor.eventRingOffset(ringLength);
        events = new RecordConsumer(
            eventRing + RecordRingDescriptor.HEADER_LENGTH, ringLength,
            eventRing + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, 255);
    }

    public static RecordProducer producer(long address, int length) {
        return new RecordProducer(
            address + RecordRingDescriptor.HEADER_LENGTH, length,
            address + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
    }

    private void sendHello(int version) {
        UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
        ClientHelloEncoder hello = new ClientHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(version).reserved(0)
            .ownerIdHigh(0).ownerIdLow(0).name("test");
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length);
        // in two pieces: the driver must put them together
        UnixSocket.send(fd, buffer.addressOffset(), 3, 0);
        idle.run();
        UnixSocket.send(fd, buffer.addressOffset() + 3, Integer.BYTES + length - 3, 0);
    }

    private int receiveMessage(UnsafeBuffer message) {
        int[] received = new int[1];
        await("the welcome", () -> {
            int count = UnixSocket.recv(
                fd, message.addressOffset() + received[0], message.capacity() - received[0], UnixSocket.MSG_DONTWAIT);
            received[0] += Math.max(0, count);
            return received[0] >= Integer.BYTES && received[0] >= Integer.BYTES + message.getInt(0) || count == 0;
        });
        return received[0];
    }

    public void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited 10 s in vain for " + what);
            }
            idle.run();
            Thread.yield();
        }
    }

    public void doorbell() {
        UnixSocket.ring(fd);
    }

    /** Whether the driver has closed the connection; takes doorbell bytes on the way. */
    public boolean isEnded() {
        UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
        int count;
        do {
            count = UnixSocket.recv(fd, bytes.addressOffset(), 256, UnixSocket.MSG_DONTWAIT);
        } while (count > 0);
        return count == 0 || count == -104;
    }

    public void command(int type, DirectBuffer source, int length) {
        int total = RecordRingDescriptor.WORD_LENGTH + length;
        int offset = commands.claim(total);
        if (offset < 0) {
            throw new IllegalStateException("command ring: " + offset);
        }
        commandRecords.putBytes(offset + RecordRingDescriptor.WORD_LENGTH, source, 0, length);
        commands.commit(offset, total, type);
        doorbell();
    }

    public Event pollEvent() {
        if (events.poll() != RecordConsumer.RECORD) {
            return null;
        }
        int length = events.length() - RecordRingDescriptor.WORD_LENGTH;
        byte[] copy = new byte[length];
        new UnsafeBuffer(events.address() + RecordRingDescriptor.WORD_LENGTH, length).getBytes(0, copy);
        Event event = new Event(events.type(), new UnsafeBuffer(copy));
        events.advance();
        events.release();
        return event;
    }

    public Event awaitEvent() {
        Event[] event = new Event[1];
        await("an event", () -> (event[0] = pollEvent()) != null);
        return event[0];
    }

    public Event expect(int type) {
        Event event = awaitEvent();
        if (event.type() != type) {
            throw new AssertionError("event " + event.type() + ", expected " + type
                + (event.type() == CommandFailedDecoder.TEMPLATE_ID ? ": " + failure(event) : ""));
        }
        return event;
    }

    public static String failure(Event event) {
        CommandFailedDecoder decoder = new CommandFailedDecoder().wrap(
            event.body(), 0, CommandFailedDecoder.BLOCK_LENGTH, 0);
        return decoder.errno() + " " + decoder.message();
    }

    public int expectFailure() {
        Event event = expect(CommandFailedDecoder.TEMPLATE_ID);
        return new CommandFailedDecoder().wrap(event.body(), 0, CommandFailedDecoder.BLOCK_LENGTH, 0).errno();
    }

    public String expectEnded() {
        ClientEndedDecoder[] ended = new ClientEndedDecoder[1];
        await("the client's end", () -> {
            Event event = pollEvent();
            if (event != null && event.type() == ClientEndedDecoder.TEMPLATE_ID) {
                ended[0] = new ClientEndedDecoder().wrap(event.body(), 0, ClientEndedDecoder.BLOCK_LENGTH, 0);
            }
            return ended[0] != null;
        });
        await("the end of file", this::isEnded);
        return ended[0].reason();
    }

    public long nextId() {
        return ++lastCorrelationId;
    }

    public void openCompletionQueue(long size, int format, int waitObject) {
        openCompletionQueue(size, format, waitObject, 0);
    }

    public void openCompletionQueue(long size, int format, int waitObject, int waitCondition) {
        OpenCompletionQueueEncoder encoder = new OpenCompletionQueueEncoder().wrap(body, 0).correlationId(nextId())
            .size(size).flags(0).signalingVector(0).waitSetId(0);
        body.putInt(OpenCompletionQueueEncoder.formatEncodingOffset(), format);
        body.putInt(OpenCompletionQueueEncoder.waitObjEncodingOffset(), waitObject);
        body.putInt(OpenCompletionQueueEncoder.waitCondEncodingOffset(), waitCondition);
        command(OpenCompletionQueueEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    public long openAddressVector() {
        OpenAddressVectorEncoder encoder = new OpenAddressVectorEncoder().wrap(body, 0).correlationId(nextId())
            .rxCtxBits(0).count(0).epPerNode(0).flags(0);
        body.putInt(OpenAddressVectorEncoder.avTypeEncodingOffset(), 2);
        encoder.name("");
        command(OpenAddressVectorEncoder.TEMPLATE_ID, body, encoder.encodedLength());
        return new AddressVectorReadyDecoder().wrap(
            expect(AddressVectorReadyDecoder.TEMPLATE_ID).body(), 0, AddressVectorReadyDecoder.BLOCK_LENGTH, 0).avId();
    }

    public void insertAddress(long avId, String address) {
        InsertAddressEncoder encoder = new InsertAddressEncoder().wrap(body, 0).correlationId(nextId()).avId(avId)
            .flags(0).address(address);
        command(InsertAddressEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    public long insert(Queues queues, String address) {
        insertAddress(queues.avId, address);
        return new AddressReadyDecoder().wrap(
            expect(AddressReadyDecoder.TEMPLATE_ID).body(), 0, AddressReadyDecoder.BLOCK_LENGTH, 0).fiAddr();
    }

    public Region register(long length) {
        register(length, 0);
        return registered();
    }

    private Region registered() {
        RegionReadyDecoder ready = new RegionReadyDecoder().wrap(
            expect(RegionReadyDecoder.TEMPLATE_ID).body(), 0, RegionReadyDecoder.BLOCK_LENGTH, 0);
        MappedFile file = map(FileType.MEMORY_REGION.fileName(ready.fileNumber()));
        return new Region(file, ready.regionIndex(), ready.generation(), ready.length());
    }

    /** Memory that peers may access. */
    public Region expose(long length, long access, long key) {
        register(length, 0, access, key);
        return registered();
    }

    public void register(long length, long nativeAddress) {
        register(length, nativeAddress, 0, 0);
    }

    private void register(long length, long nativeAddress, long access, long key) {
        RegisterRegionEncoder encoder = new RegisterRegionEncoder().wrap(body, 0).correlationId(nextId())
            .length(length).access(access).requestedKey(key).flags(0).nativeAddress(nativeAddress).domain(0)
            .descriptor(0).place(0);
        command(RegisterRegionEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    /** Sends EnableEndpoint with nothing but the bindings; the test may change the block before. */
    public void enable(long txCq, long rxCq, long avId, String name, String service, java.util.function.Consumer<
        ExpandableArrayBuffer> change) {
        body.setMemory(0, EnableEndpointEncoder.BLOCK_LENGTH, (byte) 0);
        EnableEndpointEncoder encoder = new EnableEndpointEncoder().wrap(body, 0).correlationId(nextId())
            .txCqId(txCq).rxCqId(rxCq).avId(avId);
        body.putLong(EnableEndpointEncoder.txCqFlagsEncodingOffset(), Flags.TRANSMIT);
        body.putLong(EnableEndpointEncoder.rxCqFlagsEncodingOffset(), Flags.RECV);
        change.accept(body);
        encoder.srcAddr("").destAddr("").linkName("").provName("").fabricName("").domainName("")
            .putAuthKey(new byte[0], 0, 0).endpointName(name).service(service);
        command(EnableEndpointEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    /** A counter, as its client maps it. */
    public record Count(long id, MappedFile file) {
        public long counted() {
            return UnsafeApi.getLongAcquire(null, file.address() + CounterDescriptor.COUNTED_OFFSET);
        }
    }

    public Count openCounter(WaitObj waitObject) {
        OpenCounterEncoder encoder = new OpenCounterEncoder().wrap(body, 0).correlationId(nextId())
            .flags(0).events(CntrEvents.COMP).waitObj(waitObject).waitSetId(0);
        command(OpenCounterEncoder.TEMPLATE_ID, body, encoder.encodedLength());
        CounterReadyDecoder ready = new CounterReadyDecoder().wrap(
            expect(CounterReadyDecoder.TEMPLATE_ID).body(), 0, CounterReadyDecoder.BLOCK_LENGTH, 0);
        return new Count(ready.counterId(), map(FileType.COUNTER.fileName(ready.fileNumber())));
    }

    public Queues open(String name, String service) {
        return open(name, service, 0, 0, null);
    }

    /** With buffered receives and those limits. */
    public Queues openBuffered(String name, int limit, int least) {
        return open(name, "", 0, buffer -> putBuffered(buffer, limit, least));
    }

    /** What the driver answers to limits of buffered receives that cannot be. */
    public int refuseBuffered(String name, int limit, int least) {
        openCompletionQueue(0, 4, 0);
        long cqId = new CompletionQueueReadyDecoder().wrap(
            expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(), 0, CompletionQueueReadyDecoder.BLOCK_LENGTH, 0)
            .cqId();
        enable(cqId, cqId, openAddressVector(), name, "", buffer -> putBuffered(buffer, limit, least));
        return expectFailure();
    }

    private static void putBuffered(ExpandableArrayBuffer buffer, int limit, int least) {
        buffer.putLong(INFO + InfoFieldsEncoder.modeEncodingOffset(), Mode.BUFFERED_RECV, LITTLE_ENDIAN);
        buffer.putInt(EnableEndpointEncoder.bufferedLimitEncodingOffset(), limit, LITTLE_ENDIAN);
        buffer.putInt(EnableEndpointEncoder.bufferedMinEncodingOffset(), least, LITTLE_ENDIAN);
    }

    /** With capabilities, a completion queue of that size (0: the default), and a counter of its sends or null. */
    public Queues open(String name, String service, long caps, long cqSize, Count sends) {
        return open(name, service, cqSize, buffer -> {
            buffer.putLong(INFO + InfoFieldsEncoder.capsEncodingOffset(), caps, LITTLE_ENDIAN);
            buffer.putLong(
                EnableEndpointEncoder.sendCounterIdEncodingOffset(), sends == null ? 0 : sends.id(), LITTLE_ENDIAN);
        });
    }

    private Queues open(
        String name, String service, long cqSize, java.util.function.Consumer<ExpandableArrayBuffer> change) {
        openCompletionQueue(cqSize, 4, 0);
        CompletionQueueReadyDecoder queue = new CompletionQueueReadyDecoder().wrap(
            expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(), 0, CompletionQueueReadyDecoder.BLOCK_LENGTH, 0);
        Queues queues = new Queues();
        queues.cqId = queue.cqId();
        queues.cqCapacity = queue.capacity();
        queues.cq = map(FileType.COMPLETION_QUEUE.fileName(queue.fileNumber()));
        queues.avId = openAddressVector();
        enable(queues.cqId, queues.cqId, queues.avId, name, service, change);
        EndpointReadyDecoder ready = new EndpointReadyDecoder().wrap(
            expect(EndpointReadyDecoder.TEMPLATE_ID).body(), 0, EndpointReadyDecoder.BLOCK_LENGTH, 0);
        queues.endpointId = ready.endpointId();
        queues.activityIndex = ready.activityIndex();
        queues.tq = map(FileType.TRANSMIT_QUEUE.fileName(ready.transmitQueueFile()));
        queues.transmit = producer(queues.tq.address(), ready.transmitQueueLength());
        queues.rq = map(FileType.RECEIVE_QUEUE.fileName(ready.receiveQueueFile()));
        queues.receive = producer(queues.rq.address(), ready.receiveQueueLength());
        if (ready.slabFile() != 0) {
            queues.slab = map(FileType.SLAB.fileName(ready.slabFile()));
            queues.slabCells = ready.slabCells();
            queues.slabCellLength = ready.slabCellLength();
        }
        queues.address = ready.address();
        return queues;
    }

    public MappedFile map(String name) {
        MappedFile file = MappedFile.open(dirFd, name, false, 1);
        mapped.add(file);
        return file;
    }

    /** To write on into a ring that is full would take away what the driver has not read yet. */
    private static int claimed(int offset) {
        if (offset < 0) {
            throw new IllegalStateException("no room in the ring: " + FabricErrno.name(offset));
        }
        return offset;
    }

    public void send(Queues queues, long flags, long buf, long length, long dest, long tag, long context) {
        int offset = claimed(queues.transmit.claim(64));
        new SendRequestEncoder().wrap(new UnsafeBuffer(queues.transmit.ringAddress() + offset + 8, 56), 0)
            .context(context).buf(buf).length(length).destAddr(dest).tag(tag).data(0).flags(flags);
        queues.transmit.commit(offset, 64, SendRequestEncoder.TEMPLATE_ID);
        signal(queues);
    }

    public void inject(Queues queues, String payload, long dest, long tag) {
        byte[] bytes = payload.getBytes(StandardCharsets.US_ASCII);
        int offset = claimed(queues.transmit.claim(64 + bytes.length));
        long record = queues.transmit.ringAddress() + offset;
        new SendRequestEncoder().wrap(new UnsafeBuffer(record + 8, 56), 0)
            .context(0).buf(0).length(bytes.length).destAddr(dest).tag(tag).data(0)
            .flags(Flags.TAGGED | Flags.INJECT);
        new UnsafeBuffer(record + 64, bytes.length).putBytes(0, bytes);
        queues.transmit.commit(offset, 64 + bytes.length, SendRequestEncoder.TEMPLATE_ID);
        signal(queues);
    }

    public void receive(Queues queues, long buf, long length, long tag, long context) {
        int offset = claimed(queues.receive.claim(64));
        new ReceiveRequestEncoder().wrap(new UnsafeBuffer(queues.receive.ringAddress() + offset + 8, 56), 0)
            .context(context).buf(buf).length(length).srcAddr(-1L).tag(tag).ignore(0)
            .flags(Flags.TAGGED | Flags.COMPLETION);
        queues.receive.commit(offset, 64, ReceiveRequestEncoder.TEMPLATE_ID);
        signal(queues);
    }

    public void signal(Queues queues) {
        long activity = control.address() + ControlFileDescriptor.activityOffset(ringLength, ringLength)
            + queues.activityIndex;
        if (UnsafeApi.getByte(activity) == 0) {
            UnsafeApi.putByte(activity, (byte) 1);
        }
        if (UnsafeApi.getInt(cnc.address() + CncDescriptor.MAY_PARK_OFFSET) != 0) {
            UnsafeApi.fullFence();
            if (isParked()) {
                doorbell();
            }
        }
    }

    public boolean isParked() {
        return UnsafeApi.getIntVolatile(null, cnc.address() + CncDescriptor.PARKED_OFFSET) != 0;
    }

    /** Kind, context and length of the next entry. */
    public long[] awaitCompletion(Queues queues) {
        long record = queues.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET
            + (queues.read & queues.cqCapacity - 1) * CompletionQueueDescriptor.RECORD_LENGTH;
        await("a completion", () ->
            (int) UnsafeApi.getLongVolatile(null, record) == (int) queues.read + 1);
        queues.read++;
        long word = UnsafeApi.getLong(record);
        return new long[] {word >>> 48 & 0xFF, UnsafeApi.getLong(record + 8), UnsafeApi.getLong(record + 24)};
    }

    /** Ends the connection as the end of its process would; everything else stays until {@link #close}. */
    public void hangUp() {
        if (!hungUp) {
            // once: the number may be somebody else's afterwards
            hungUp = true;
            Libc.close(fd);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            hangUp();
            Libc.close(dirFd);
            mapped.forEach(MappedFile::close);
            if (control != null) {
                control.close();
            }
            if (cnc != null) {
                cnc.close();
            }
        }
    }
}
