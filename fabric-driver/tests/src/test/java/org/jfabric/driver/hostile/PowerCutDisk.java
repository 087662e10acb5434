package org.jfabric.driver.hostile;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A disk with a cache that loses its power: a server of network block devices for one machine after the other. A write
 * is in the cache until the next flush. When the machine is gone, a random part of what is in the cache is on the disk:
 * each write or not, in the order of writing, and of some only some sectors. Arguments: socket, file of the disk, seed.
 */
final class PowerCutDisk {
    private static final int SECTOR = 512;
    private static final long NBD_MAGIC = 0x4e42444d41474943L;
    private static final long OPTION_MAGIC = 0x49484156454f5054L;
    private static final long OPTION_REPLY_MAGIC = 0x3e889045565a9L;
    private static final int REQUEST_MAGIC = 0x25609513;
    private static final int REPLY_MAGIC = 0x67446698;
    /** Fixed handshake, and no zeros behind the size. */
    private static final short HANDSHAKE_FLAGS = 3;
    /** There are flags, and flushes. */
    private static final short DISK_FLAGS = 5;
    private static final int OPTION_EXPORT_NAME = 1;
    private static final int OPTION_ABORT = 2;
    private static final int OPTION_GO = 7;
    private static final int ACK = 1;
    private static final int INFO = 3;
    private static final int UNSUPPORTED = 0x80000001;
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int DISCONNECT = 2;
    private static final int FLUSH = 3;

    private record Write(long offset, byte[] bytes) {
    }

    private final Path file;
    private final SplittableRandom random;
    /** What reads see. */
    private final Path cacheFile;
    private final List<Write> cached = new ArrayList<>();
    private SocketChannel machine;
    private FileChannel disk;
    private FileChannel cache;

    private PowerCutDisk(Path file, long seed) {
        this.file = file;
        this.random = new SplittableRandom(seed);
        cacheFile = file.resolveSibling(file.getFileName() + ".cache");
    }

    public static void main(String[] args) throws IOException {
        PowerCutDisk disk = new PowerCutDisk(Path.of(args[1]), Long.parseLong(args[2]));
        System.out.println("seed " + args[2]);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(args[0]));
            while (true) {
                try (SocketChannel machine = server.accept()) {
                    disk.serve(machine);
                }
            }
        }
    }

    private void serve(SocketChannel newMachine) throws IOException {
        machine = newMachine;
        Files.copy(file, cacheFile, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel newDisk = FileChannel.open(file, StandardOpenOption.WRITE);
            FileChannel newCache = FileChannel.open(cacheFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            disk = newDisk;
            cache = newCache;
            serve();
            cut();
        }
    }

    private void serve() throws IOException {
        try {
            if (agree()) {
                while (answer()) {
                    // until it has no power any more
                }
            }
        } catch (EOFException | SocketException killed) {
            System.out.println("the machine is gone: " + killed);
        }
    }

    // ---- the network ----

    private ByteBuffer read(int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (machine.read(bytes) < 0) {
                throw new EOFException();
            }
        }
        return bytes.flip();
    }

    private void write(ByteBuffer bytes) throws IOException {
        bytes.flip();
        while (bytes.hasRemaining()) {
            machine.write(bytes);
        }
    }

    /** Whether the machine uses the disk. */
    private boolean agree() throws IOException {
        write(ByteBuffer.allocate(18).putLong(NBD_MAGIC).putLong(OPTION_MAGIC).putShort(HANDSHAKE_FLAGS));
        read(Integer.BYTES);
        while (true) {
            ByteBuffer head = read(16);
            require(head.getLong() == OPTION_MAGIC, "no option");
            int option = head.getInt();
            read(head.getInt());
            switch (option) {
                case OPTION_EXPORT_NAME -> {
                    write(ByteBuffer.allocate(10).putLong(Files.size(file)).putShort(DISK_FLAGS));
                    return true;
                }
                case OPTION_GO -> {
                    reply(option, INFO, ByteBuffer.allocate(12).putShort((short) 0).putLong(Files.size(file))
                        .putShort(DISK_FLAGS));
                    reply(option, ACK, ByteBuffer.allocate(0));
                    return true;
                }
                case OPTION_ABORT -> {
                    return false;
                }
                default -> reply(option, UNSUPPORTED, ByteBuffer.allocate(0));
            }
        }
    }

    private void reply(int option, int type, ByteBuffer data) throws IOException {
        write(ByteBuffer.allocate(20 + data.capacity()).putLong(OPTION_REPLY_MAGIC).putInt(option).putInt(type)
            .putInt(data.capacity()).put(data.flip()));
    }

    private boolean answer() throws IOException {
        ByteBuffer request = read(28);
        require(request.getInt() == REQUEST_MAGIC, "no request");
        request.getShort();
        int type = request.getShort();
        long handle = request.getLong();
        long offset = request.getLong();
        int length = request.getInt();
        ByteBuffer reply = ByteBuffer.allocate(16 + (type == READ ? length : 0));
        reply.putInt(REPLY_MAGIC).putInt(0).putLong(handle);
        switch (type) {
            case READ -> {
                while (reply.hasRemaining()) {
                    require(cache.read(reply, offset + reply.position() - 16) > 0, "a read behind the end");
                }
            }
            case WRITE -> {
                byte[] bytes = read(length).array();
                cache.write(ByteBuffer.wrap(bytes), offset);
                cached.add(new Write(offset, bytes));
            }
            case FLUSH -> {
                for (Write each : cached) {
                    disk.write(ByteBuffer.wrap(each.bytes), each.offset);
                }
                cached.clear();
            }
            case DISCONNECT -> {
                return false;
            }
            default -> throw new IllegalStateException("request " + type);
        }
        write(reply);
        return true;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    // ---- the power ----

    private void cut() throws IOException {
        int lost = 0;
        int torn = 0;
        int keptOf8 = random.nextInt(9);
        for (Write each : cached) {
            boolean isTorn = each.bytes.length > SECTOR && random.nextInt(8) == 0;
            torn += isTorn ? 1 : 0;
            boolean isKept = random.nextInt(8) < keptOf8;
            lost += isTorn || isKept ? 0 : 1;
            for (int at = 0; at < each.bytes.length; at += SECTOR) {
                if (isTorn ? random.nextBoolean() : isKept) {
                    disk.write(ByteBuffer.wrap(each.bytes, at, Math.min(SECTOR, each.bytes.length - at)),
                        each.offset + at);
                }
            }
        }
        System.out.println("cut: of " + cached.size() + " writes since the last flush " + lost + " are lost, " + torn
            + " torn");
        cached.clear();
    }
}
