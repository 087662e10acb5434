package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.OwnerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
        assertEquals(0, hello.features() & ShmHello.FEATURE_STAMPS);
        assertEquals(ShmHello.FEATURE_STAMPS,
            ShmHello.of(new OwnerId(1, 2), "alpha", 3, 4096, 0, true).features() ^ hello.features());
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
