package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.IntSupplier;
import org.jfabric.CompletionError;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.junit.FabricTest;
import org.junit.jupiter.api.Timeout;

/** What an error entry says of an operation whose values were wrong. */
@Timeout(60)
class RefusedValueTest {
    private final CompletionError error = new CompletionError();
    private Messenger own;

    /** Checks the error entry of an operation, behind entries without an error. */
    private void assertText(int errno, String end, IntSupplier operation) {
        assertEquals(0, operation.getAsInt());
        long deadlineNs = System.nanoTime() + 10_000_000_000L;
        int result;
        do {
            result = own.poll(entry -> {
            }, 16);
        } while (result != -FabricErrno.EAVAIL && System.nanoTime() - deadlineNs < 0);
        assertEquals(-FabricErrno.EAVAIL, result, () -> "no error entry: " + end);
        assertEquals(1, own.queue().readErr(error, 0));
        assertEquals(errno, error.err(), error::toString);
        String text = error.describe();
        assertTrue(text.startsWith(FabricErrno.name(errno)) && text.endsWith(end), text);
    }

    @FabricTest
    void shouldBeNamed(Fabric fabric) {
        try (Messenger messenger = fabric.messenger().hints(new Info().caps(Flags.TAGGED | Flags.RMA)).open()) {
            own = messenger;
            Endpoint endpoint = own.endpoint();
            long good = own.memory().address();
            long bad = good + own.memory().lengthBytes() - 32;
            long self = own.peer(own.address()).number();
            String memory =
                " Not all of the 64 bytes at 0x" + Long.toHexString(bad) + " are in one open region of the domain.";
            assertText(FabricErrno.EFAULT, memory, () -> endpoint.trecv(bad, 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1));
            assertText(FabricErrno.EFAULT, memory, () -> endpoint.tsend(bad, 64, self, 7, 2));
            assertText(FabricErrno.EFAULT, memory, () -> endpoint.remoteMemory().read(bad, 64, self, 0, 4711, 3));
            String peer = " The address vector has no address 99.";
            assertText(FabricErrno.EINVAL, peer, () -> endpoint.tsend(good, 64, 99, 7, 4));
            assertText(FabricErrno.EINVAL, peer, () -> endpoint.remoteMemory().write(good, 64, 99, 0, 4711, 5));
            String range = " The access was to 64 bytes at 0x10 of the peer's region with key 4711.";
            assertText(FabricErrno.EKEYREJECTED, range,
                () -> endpoint.remoteMemory().write(good, 64, self, 16, 4711, 6));
            assertEquals(0, endpoint.trecv(good, 40, FabricAddress.ADDR_UNSPEC, 7, 0, 7));
            assertText(FabricErrno.ETRUNC, " Of 64 bytes 40 were placed.", () -> endpoint.tsend(good, 64, self, 7, 8));
        }
    }
}
