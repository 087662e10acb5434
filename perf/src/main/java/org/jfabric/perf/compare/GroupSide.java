package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.tool.ToolException;

/**
 * The writer of a group and its readers, endpoints of one driver in mode INVOKER that one thread runs. A message is
 * written once; each reader posts a receive for it and reads its entry.
 */
final class GroupSide implements Side, CompletionHandler {
    /** Longest message: that of the memory which a reader has by default. */
    static final int MOST_BYTES = 4096;

    private static final int LIMIT = 4;

    private final SideSettings settings;
    private final int size;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final List<Messenger> readers = new ArrayList<>();
    private final UnsafeBuffer payload;
    private Messenger writer;
    private long group;
    private long received;

    /** Starts the driver. */
    GroupSide(SideSettings settings, int readers) {
        this.settings = settings;
        size = readers;
        payload = new UnsafeBuffer(new byte[settings.sizeBytes()]);
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(settings.ownDirectory()).threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
    }

    @Override
    public void connect() {
        Info hints = new Info().caps(Flags.MSG | Flags.MULTICAST);
        String address = "jfabric://" + fabric.driverName() + "/readers";
        writer = fabric.messenger().hints(hints).open();
        group = writer.endpoint().join(address, 0, Flags.SEND).fiAddr();
        for (int i = 0; i < size; i++) {
            readers.add(fabric.messenger().hints(hints).open());
            readers.getLast().endpoint().join(address, 0, Flags.RECV);
        }
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long i = 0; i < count; i++) {
            message();
        }
        return System.nanoTime() - begin;
    }

    private void message() {
        for (int i = 0; i < size; i++) {
            Messenger reader = readers.get(i);
            check(reader.endpoint().recv(
                reader.memory().address(0), settings.sizeBytes(), FabricAddress.ADDR_UNSPEC, i));
        }
        int result;
        while ((result = writer.endpoint().inject(payload, 0, settings.sizeBytes(), group)) == -FabricErrno.EAGAIN) {
            check(writer.queue().poll(this, LIMIT));
        }
        check(result);
        for (int i = 0; i < size; i++) {
            long wanted = received + 1;
            while (received < wanted) {
                check(readers.get(i).queue().poll(this, LIMIT));
            }
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        received++;
    }

    private static void check(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new ToolException("A call of a group was refused with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }

    @Override
    public void close() {
        fabric.close();
        driver.close();
    }
}
