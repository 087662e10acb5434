package org.jfabric.driver.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Table;
import org.jfabric.TableWriter;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Writes and removes values of a table as fast as it can, until it is killed. All words of a value are the same: the
 * key and a number that grows.
 */
final class TableWriterMain {
    static final String TABLE = "jfabric://alpha/values";
    static final int KEYS = 6;
    static final int VALUE_LENGTH = 1 << 14;

    private TableWriterMain() {
    }

    public static void main(String[] args) throws IOException {
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[1]));
        boolean removes = Boolean.parseBoolean(args[2]);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[0])));
        System.out.println("connected");
        input.readLine();
        TableWriter writer = open(fabric);
        System.out.println("ready " + writer.version());
        UnsafeBuffer value = new UnsafeBuffer(ByteBuffer.allocateDirect(VALUE_LENGTH));
        for (;;) {
            long key = random.nextInt(KEYS);
            if (removes && random.nextInt(50) == 0) {
                require(writer.remove(key), -FabricErrno.ENOENT);
                continue;
            }
            int length = Long.BYTES * (1 + random.nextInt(VALUE_LENGTH / Long.BYTES));
            long word = writer.version() + 1 << 8 | key;
            for (int i = 0; i < length; i += Long.BYTES) {
                value.putLong(i, word);
            }
            require(writer.put(key, value, 0, length), 0);
        }
    }

    private static void require(int result, int other) {
        if (result != 0 && result != other) {
            throw new AssertionError(result);
        }
    }

    /** The driver may not have seen yet that the writer before has died. */
    private static TableWriter open(Fabric fabric) {
        for (;;) {
            try {
                return Table.on(fabric, TABLE).slots(KEYS).valueLength(VALUE_LENGTH).openWriter();
            } catch (FabricException busy) {
                if (busy.errno() != FabricErrno.EBUSY) {
                    throw busy;
                }
            }
        }
    }
}
