package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ClientWelcomeEncoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client makes of the answer to its hello, which the test gives in the driver's place. */
class DriverHelloTest {
    private static final int FIELDS = ClientWelcomeEncoder.BLOCK_LENGTH;

    private final Path directory = TestDirectory.create();
    private final int listening = UnixSocket.listen(directory.resolve("driver.sock"), 1);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(4096, 8);
    private final UnsafeBuffer answer = new UnsafeBuffer(memory.address(), 4096);
    private int connected = -1;

    @AfterEach
    void close() {
        Libc.close(connected);
        Libc.close(listening);
        arena.close();
        TestDirectory.delete(directory);
    }

    @Test
    void shouldTakeAWelcomeOfThisVersion() {
        DriverHello hello = exchange(FileHeaderDescriptor.VERSION, FIELDS, welcomeLength());
        assertEquals("desk", hello.attachment().driverName());
        assertEquals(new OwnerId(3, 4), hello.attachment().driverOwner());
        hello.doorbell().close();
    }

    /** The version is read before the length, so that a welcome of another one may have any. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 8})
    void shouldRefuseAnotherVersionAndNameBoth(int more) {
        FabricException refused = assertThrows(FabricException.class,
            () -> exchange(9, FIELDS + more, MessageHeaderEncoder.ENCODED_LENGTH + 12 + Math.max(0, more)));
        assertEquals(FabricErrno.EOPNOTSUPP, refused.errno());
        assertTrue(refused.getMessage().contains(
            "speaks version 9, this client version " + FileHeaderDescriptor.VERSION)
            && refused.getMessage().contains(FileHeaderDescriptor.REMEDY), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 8})
    void shouldRefuseFieldsOfAnotherLength(int more) {
        FabricException refused = assertThrows(FabricException.class,
            () -> exchange(FileHeaderDescriptor.VERSION, FIELDS + more, welcomeLength()));
        assertEquals(FabricErrno.EIO, refused.errno());
    }

    private int welcomeLength() {
        ClientWelcomeEncoder encoder = welcome(FileHeaderDescriptor.VERSION);
        return MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
    }

    private ClientWelcomeEncoder welcome(int version) {
        return new ClientWelcomeEncoder().wrapAndApplyHeader(answer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(version).errno(0).ownerIdHigh(3).ownerIdLow(4)
            .driverName("desk").reason("");
    }

    private DriverHello exchange(int version, int blockLength, int length) {
        welcome(version);
        new MessageHeaderEncoder().wrap(answer, Integer.BYTES).blockLength(blockLength);
        answer.putInt(0, length);
        ClientThreads threads = new ClientThreads() {
            @Override
            public boolean hasThreads() {
                return false;
            }

            @Override
            public void pause(long pauseNs) {
                if (connected < 0) {
                    connected = UnixSocket.accept4(listening, 0);
                    UnixSocket.send(connected, memory.address(), Integer.BYTES + length, 0);
                }
            }
        };
        return DriverHello.exchange(
            directory, DriverUser.own(), System.nanoTime() + TimeUnit.SECONDS.toNanos(30), "test", threads);
    }
}
