package org.jfabric.driver.torture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.EnableEndpointEncoder;
import org.jfabric.codec.control.InfoFieldsEncoder;
import org.jfabric.codec.control.OpenCompletionQueueEncoder;
import org.jfabric.codec.control.RegisterRegionEncoder;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.Change;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;

/**
 * Commands in the control ring of a client: those that it has sent before, so that their ids are valid, with some bytes
 * changed, and bodies of valid ids for all other types. A client that the driver ends is followed by the next one.
 */
final class CommandMutations {
    private static final int COMMANDS_OF_A_CLIENT = 48;
    private static final int FIRST_TYPE = 10;
    private static final int TYPES = 30;
    private static final int LONGEST = 512;
    private static final int LONGS = 24;
    /** Of what a valid command may take of the host: it is shared by others. */
    private static final long MOST_BYTES = 1 << 20;
    private static final long MOST_ENTRIES = 1 << 12;
    private static final int SPINS = 2_000;

    private record Command(int type, byte[] body) {
    }

    private final Path directory;
    private final SplittableRandom random;
    private int clients;

    CommandMutations(Path directory, SplittableRandom random) {
        this.directory = directory;
        this.random = random;
    }

    /** As many as one client sends; returns how many of them the driver has read. */
    int some() {
        int read = 0;
        try (ControlClient client = new ControlClient(directory, () -> { })) {
            List<Command> valid = prepare(client);
            long[] ids = ids(valid);
            Set<Integer> known = valid.stream().map(Command::type).collect(Collectors.toSet());
            boolean isOpen = true;
            while (isOpen && read < COMMANDS_OF_A_CLIENT) {
                Command command = random.nextInt(4) == 0 ? generated(ids, known) : changed(valid);
                isOpen = send(client, command);
                read++;
            }
        }
        return read;
    }

    private List<Command> prepare(ControlClient client) {
        ControlClient.Queues queues = client.open("mutant-" + ProcessHandle.current().pid() + '-' + ++clients, "");
        client.expose(1 << 16, Flags.REMOTE_READ | Flags.REMOTE_WRITE, clients);
        client.openCounter(WaitObj.UNSPEC);
        client.insert(queues, queues.address);
        List<Command> commands = new ArrayList<>();
        UnsafeBuffer ring = client.commandRecords;
        for (int at = 0; at < client.commands.position();) {
            int length = ring.getInt(at);
            byte[] body = new byte[length - RecordRingDescriptor.WORD_LENGTH];
            ring.getBytes(at + RecordRingDescriptor.WORD_LENGTH, body);
            commands.add(new Command(ring.getInt(at + Integer.BYTES), body));
            at += RecordRingDescriptor.alignedLength(length);
        }
        return commands;
    }

    /** All words of the valid ones: ids, sizes and flags. */
    private static long[] ids(List<Command> valid) {
        return valid.stream().flatMapToLong(each -> {
            ByteBuffer body = ByteBuffer.wrap(each.body).order(ByteOrder.LITTLE_ENDIAN);
            return java.util.stream.LongStream.range(0, body.capacity() / Long.BYTES)
                .map(i -> body.getLong((int) i * Long.BYTES));
        }).filter(each -> each >= 0 && each < MOST_BYTES).toArray();
    }

    private Command changed(List<Command> valid) {
        Command command = valid.get(random.nextInt(valid.size()));
        byte[] body = Change.some(command.body, random);
        if (body.length > LONGEST) {
            body = command.body.clone();
        }
        bound(command.type, body);
        return new Command(command.type, body);
    }

    /** A changed size that is valid must not take gigabytes. */
    private static void bound(int type, byte[] body) {
        UnsafeBuffer buffer = new UnsafeBuffer(body);
        switch (type) {
            case RegisterRegionEncoder.TEMPLATE_ID ->
                bound(buffer, RegisterRegionEncoder.lengthEncodingOffset(), MOST_BYTES);
            case OpenCompletionQueueEncoder.TEMPLATE_ID ->
                bound(buffer, OpenCompletionQueueEncoder.sizeEncodingOffset(), MOST_ENTRIES);
            case EnableEndpointEncoder.TEMPLATE_ID -> {
                bound(buffer, EnableEndpointEncoder.infoEncodingOffset() + InfoFieldsEncoder.txSizeEncodingOffset(),
                    MOST_ENTRIES);
                bound(buffer, EnableEndpointEncoder.infoEncodingOffset() + InfoFieldsEncoder.rxSizeEncodingOffset(),
                    MOST_ENTRIES);
            }
            default -> {
                return;
            }
        }
    }

    private static void bound(UnsafeBuffer body, int offset, long most) {
        if (offset + Long.BYTES <= body.capacity()) {
            long value = body.getLong(offset);
            // what is negative, or more than there is of anything, is refused
            if (value > most && value < 1L << 48) {
                body.putLong(offset, value % most);
            }
        }
    }

    private Command generated(long[] ids, Set<Integer> known) {
        int type;
        do {
            type = random.nextInt(8) == 0 ? random.nextInt(2, 256) : FIRST_TYPE + random.nextInt(TYPES);
        } while (known.contains(type));
        UnsafeBuffer body = new UnsafeBuffer(new byte[Long.BYTES * (1 + random.nextInt(LONGS))]);
        for (int at = 0; at < body.capacity(); at += Long.BYTES) {
            body.putLong(at, random.nextInt(3) == 0 ? random.nextInt(4) : ids[random.nextInt(ids.length)]);
        }
        return new Command(type, random.nextBoolean() ? body.byteArray() : Change.some(body.byteArray(), random));
    }

    /** False if the driver has ended the client for it. */
    private static boolean send(ControlClient client, Command command) {
        while (client.pollEvent() != null) {
            continue;
        }
        client.command(command.type, new UnsafeBuffer(command.body), command.body.length);
        long position = client.commands.position();
        long taken = client.control.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
        for (int i = 0; i < SPINS; i++) {
            if (UnsafeApi.getLongAcquire(null, taken) == position) {
                return true;
            }
            Thread.onSpinWait();
        }
        boolean[] ended = new boolean[1];
        Deadline.awaitParked(() -> "a command of type " + command.type + " and " + command.body.length
            + " bytes is not read", () -> UnsafeApi.getLongAcquire(null, taken) == position
            || (ended[0] = client.isEnded()));
        return !ended[0];
    }
}
