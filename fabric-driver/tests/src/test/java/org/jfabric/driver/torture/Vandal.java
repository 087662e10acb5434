package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.ControlClient;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.Flags;

/**
 * A client that writes anything anywhere in the files that it shares with its driver, cuts them, and sends commands
 * that are none: again and again, in a process of its own. The driver may end it whenever it likes to.
 *
 * <p>Arguments: directory, seed, milliseconds. It says "done CLIENTS ENDED SCRIBBLES CUTS COMMANDS".
 */
final class Vandal {
    private static final long REGION = 1 << 16;
    private static final long[] VALUES = {
        0, 1, 2, 7, 8, 63, 64, -1, -8, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 31, 1L << 32, 1L << 48,
        Long.MAX_VALUE, Long.MIN_VALUE};

    private final Path directory;
    private final SplittableRandom random;
    private int clients;
    private long scribbles;
    private long cuts;
    private long commands;
    private int ended;

    private Vandal(Path directory, long seed) {
        this.directory = directory;
        random = new SplittableRandom(seed);
    }

    public static void main(String[] args) {
        Vandal vandal = new Vandal(Path.of(args[0]), Long.parseLong(args[1]));
        long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000;
        while (System.nanoTime() - end < 0) {
            vandal.client();
        }
        System.out.println(
            "done " + vandal.clients + ' ' + vandal.ended + ' ' + vandal.scribbles + ' ' + vandal.cuts + ' '
            + vandal.commands);
    }

    private void client() {
        try (ControlClient client = new ControlClient(directory, () -> { })) {
            clients++;
            ControlClient.Queues queues =
                client.open("vandal-" + ProcessHandle.current().pid() + '-' + clients, "");
            ControlClient.Region region = client.register(REGION);
            long self = client.insert(queues, queues.address);
            for (int i = 0; i < random.nextInt(20); i++) {
                client.receive(queues, region.address(random.nextInt(1 << 15)), 64, i & 3, i);
                client.send(queues, Flags.TAGGED | Flags.COMPLETION, region.address(random.nextInt(1 << 15)),
                    random.nextInt(4) == 0 ? 20_000 : 64, self, i & 3, i);
            }
            harm(client, queues, region);
            LockSupport.parkNanos(random.nextInt(1_000_000));
        } catch (RuntimeException | AssertionError | InternalError | IOException e) {
            // its own harm hits it as well: the driver has ended it, or its memory is gone
            ended++;
        }
    }

    private void harm(ControlClient client, ControlClient.Queues queues, ControlClient.Region region)
        throws IOException {
        List<MappedFile> files = List.of(queues.tq, queues.rq, queues.cq, client.control, region.file());
        int count = 1 + random.nextInt(300);
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(12)) {
                case 0 -> command(client);
                case 1 -> {
                    if (random.nextInt(20) == 0) {
                        cut(files.get(random.nextInt(files.size())));
                        client.signal(queues);
                        client.doorbell();
                        return;
                    }
                }
                default -> scribble(files.get(random.nextInt(files.size())));
            }
            if (random.nextInt(4) == 0) {
                client.signal(queues);
            }
            if (random.nextInt(16) == 0) {
                client.doorbell();
            }
        }
        client.doorbell();
    }

    /** Half of it in the first page, where the positions are, and in the first records. */
    private void scribble(MappedFile file) {
        long room = file.lengthBytes() - Long.BYTES;
        long at = random.nextLong(random.nextBoolean() ? Math.min(room, 1024) : room);
        long value = random.nextInt(3) == 0 ? random.nextLong() : VALUES[random.nextInt(VALUES.length)];
        switch (random.nextInt(3)) {
            case 0 -> UnsafeApi.putLong(file.address() + (at & -8L), value);
            case 1 -> UnsafeApi.putInt(file.address() + (at & -4L), (int) value);
            default -> UnsafeApi.putByte(file.address() + at, (byte) value);
        }
        scribbles++;
    }

    private void cut(MappedFile file) throws IOException {
        Path path = directory.resolve(Path.of(file.path()).getFileName());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(random.nextBoolean() ? 0 : random.nextLong(Files.size(path) + 1));
        }
        cuts++;
    }

    private void command(ControlClient client) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[8 + random.nextInt(500)]);
        for (int i = 0; i < body.capacity(); i++) {
            body.putByte(i, (byte) (random.nextBoolean() ? 0 : random.nextInt()));
        }
        client.command(random.nextInt(64), body, body.capacity());
        commands++;
    }
}
