package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.HelloEncoder;
import org.jfabric.codec.wire.MessageHeaderEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first message of a connection, as it comes out of a socket. */
class ShmHelloTest {
    private final ShmHello hello = ShmHello.of(new OwnerId(1, 2), "alpha", 3, 4096, ShmHello.threads(1, 2), false);
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment bytes = arena.allocate(16);
    @TempDir
    private Path directory;
    private int listener = -1;
    private int ours = -1;
    private int theirs = -1;

    @AfterEach
    void close() {
        Libc.close(listener);
        Libc.close(ours);
        Libc.close(theirs);
        arena.close();
    }

    @Test
    void shouldAskForTimeStampsOnlyIfTheDriverSamples() {
        connect();
        ShmHello asking = ShmHello.of(new OwnerId(1, 2), "alpha", 3, 4096, 0, true);
        asking.send(ours);
        assertTrue(ShmHello.receive(theirs).wantsStamps());
        assertFalse(hello.wantsStamps());
    }

    /** The version is read before the length, so that it may have any. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 1000})
    void shouldRefuseAnotherVersionAndNameBoth(int further) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[2048]);
        new HelloEncoder().wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(9);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + HelloEncoder.versionEncodingOffset() + 4 + further;
        FabricException refused = assertThrows(FabricException.class, () -> ShmHello.decode(buffer, length));
        assertEquals(FabricErrno.EIO, refused.errno());
        assertTrue(refused.getMessage().contains("uses version 9 of the wire, this one " + FileHeaderDescriptor.VERSION)
            && refused.getMessage().contains(FileHeaderDescriptor.REMEDY), refused.getMessage());
    }

    @Test
    void shouldRefuseFieldsOfAnotherLength() {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[2048]);
        HelloEncoder encoder = new HelloEncoder().wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION).driverName("alpha").reason("");
        int length = MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
        ShmHello.decode(buffer, length);
        new MessageHeaderEncoder().wrap(buffer, 0).blockLength(HelloEncoder.BLOCK_LENGTH + 8);
        FabricException refused = assertThrows(FabricException.class, () -> ShmHello.decode(buffer, length));
        assertEquals(FabricErrno.EIO, refused.errno());
    }

    @Test
    void shouldReceiveWhatWasSent() {
        connect();
        assertNull(ShmHello.receive(theirs));
        hello.send(ours);
        assertEquals(hello, ShmHello.receive(theirs));
    }

    @Test
    void shouldNameBothProgressThreads() {
        assertEquals(1, hello.sender());
        assertEquals(2, hello.receiver());
    }

    @Test
    void shouldReceiveAHelloThatDoorbellsFollow() {
        connect();
        hello.send(ours);
        assertEquals(1, UnixSocket.send(ours, bytes.address(), 1, 0));
        assertEquals(hello, ShmHello.receive(theirs));
    }

    @Test
    void shouldRefuseAHelloThatIsCutOff() {
        connect();
        bytes.set(ValueLayout.JAVA_INT, 0, 13);
        assertEquals(16, UnixSocket.send(ours, bytes.address(), 16, 0));
        FabricException refused = assertThrows(FabricException.class, () -> ShmHello.receive(theirs));
        assertEquals(FabricErrno.ECONNRESET, refused.errno());
    }

    private void connect() {
        Path path = directory.resolve("s");
        listener = UnixSocket.listen(path, 1);
        ours = UnixSocket.connect(path, 0);
        theirs = UnixSocket.accept4(listener, 0);
        assertTrue(listener >= 0 && ours >= 0 && theirs >= 0);
    }
}
