package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.OutstandingOperations;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.client.WaitLine;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.junit.jupiter.api.Test;

class RestartReaderTest {
    private static final int CAPACITY = 8;

    private final DriverState driver = new DriverState();
    private final CompletionQueueImage before = new CompletionQueueImage(CAPACITY);
    private final CompletionQueueImage after = new CompletionQueueImage(2 * CAPACITY);
    private final RestartReader.Era first = era(before);
    private final List<Long> contexts = new ArrayList<>();
    private final RestartReader reader =
        new RestartReader(first, CompletionFormat.CONTEXT, driver, false, line -> { });

    private static RestartReader.Era era(CompletionQueueImage image) {
        long address = image.memory.address();
        return new RestartReader.Era(image.memory, image.capacity, new CompletionCredits(image.capacity,
            address + CompletionQueueDescriptor.RETIRED_OFFSET, new UseGuard("reads"), new UseLock()),
            new OutstandingOperations(image.capacity),
            new WaitLine(address + CompletionQueueDescriptor.WAIT_OFFSET, image.memory));
    }

    private void driverWrites(RestartReader.Era era, CompletionQueueImage image, long context) {
        era.credits().take();
        image.success(context);
    }

    private int read() {
        return reader.handle(entry -> contexts.add(entry.opContext()), CAPACITY);
    }

    @Test
    void shouldReadNothingThatAClosingDriverWritesAfterItsClientCountedWhatWasLost() {
        driverWrites(first, before, 1);
        driverWrites(first, before, 2);
        driver.leave(new FabricException(FabricErrno.ENODEV, "closed"));
        reader.seal();
        reader.settle();
        driverWrites(first, before, 3);
        assertEquals(2, read());
        assertEquals(-FabricErrno.EAGAIN, read());
        RestartReader.Era second = era(after);
        reader.follow(second);
        driver.comeBack();
        driverWrites(second, after, 4);
        assertEquals(-FabricErrno.EAGAIN, read());
        assertEquals(1, read());
        assertEquals(List.of(1L, 2L, 4L), contexts);
    }

    @Test
    void shouldReadAFullQueueAfterItsDriverHasEnded() {
        for (long context = 1; context <= 3; context++) {
            driverWrites(first, before, -context);
        }
        assertEquals(3, read());
        contexts.clear();
        for (long context = 1; context <= CAPACITY; context++) {
            driverWrites(first, before, context);
        }
        driver.leave(new FabricException(FabricErrno.ENODEV, "closed"));
        reader.seal();
        reader.settle();
        assertEquals(CAPACITY, read());
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L), contexts);
    }
}
