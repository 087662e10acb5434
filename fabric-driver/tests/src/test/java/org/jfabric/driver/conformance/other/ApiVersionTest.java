package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What the version of the interface that a fabric is opened with decides. */
@Timeout(60)
class ApiVersionTest {
    private static final int OLD = FabricAttr.version(1, 4);
    private static final int FIRST_WITH_SIZES = FabricAttr.version(1, 5);
    private static final int TOO_NEW = FabricAttr.API_VERSION + 1;
    private static final long STRICT = Flags.TAGGED | Flags.SEND | Flags.RECV | Flags.SOURCE | Flags.SOURCE_ERR;

    private final Path base = TestDirectory.create();
    private final FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
        .directory(base.resolve("alpha")).threadingMode(ThreadingMode.INVOKER).build());

    @AfterEach
    void close() {
        driver.close();
        TestDirectory.delete(base);
    }

    @Test
    @Requirement("REF-003")
    void shouldRefuseVersionsThatAreNewerThanTheLibrary() {
        assertEquals(FabricErrno.ENOSYS, errno(() -> open(TOO_NEW)));
        assertEquals(FabricErrno.ENOSYS, errno(() -> open(-1)), "versions are unsigned");
        try (Fabric fabric = open(0)) {
            assertEquals(FabricAttr.API_VERSION, fabric.apiVersion());
            Info best = fabric.info(null).best();
            assertEquals(FabricAttr.API_VERSION, best.fabricAttr().apiVersion());
            Info hints = new Info();
            hints.fabricAttr().apiVersion(TOO_NEW);
            assertEquals(FabricErrno.ENOSYS, errno(() -> fabric.info(hints)));
            Domain domain = fabric.domain(best);
            Info edited = best.copy();
            edited.fabricAttr().apiVersion(TOO_NEW);
            assertEquals(FabricErrno.ENOSYS, errno(() -> fabric.domain(edited)));
            assertEquals(FabricErrno.ENOSYS, errno(() -> domain.openEndpoint(edited)));
            // an older one would promise rules that this fabric does not follow
            hints.fabricAttr().apiVersion(OLD);
            assertEquals(FabricErrno.EINVAL, errno(() -> fabric.info(hints)));
            edited.fabricAttr().apiVersion(OLD);
            assertEquals(FabricErrno.EINVAL, errno(() -> fabric.domain(edited)));
        }
    }

    @Test
    void shouldFollowVersionTwoEverywhereOnAFabricOfThatVersion() {
        try (Fabric fabric = open(FabricAttr.VERSION_2)) {
            assertEquals(FabricAttr.VERSION_2, fabric.apiVersion());
            assertEquals(FabricAttr.VERSION_2, fabric.info(null).best().fabricAttr().apiVersion());
            assertEquals(FabricErrno.ENOSYS, errno(() -> fabric.openWaitSet(new WaitSetAttr())));
            Info hints = new Info();
            hints.fabricAttr().apiVersion(FabricAttr.API_VERSION);
            assertEquals(FabricErrno.EINVAL, errno(() -> fabric.info(hints)));
        }
        try (Fabric fabric = open(FIRST_WITH_SIZES)) {
            Info hints = new Info();
            hints.fabricAttr().apiVersion(FabricAttr.VERSION_2);
            assertEquals(FabricErrno.EINVAL, errno(() -> fabric.info(hints)), "only 1.18 takes both");
        }
    }

    @Test
    @Requirement({"REF-003", "CQ-100"})
    void shouldPutErrorDataWhereTheVersionSays() {
        for (int version : new int[] {OLD, FIRST_WITH_SIZES, 0}) {
            try (Fabric fabric = open(version)) {
                UnsafeBuffer mine = new UnsafeBuffer(new byte[128]);
                mine.setMemory(0, 128, (byte) 9);
                CompletionError error = new CompletionError().errDataBuffer(mine, 0, 128);
                String stranger = receiveFromStranger(fabric, error);
                assertEquals(FabricErrno.EADDRNOTAVAIL, error.err());
                assertEquals(stranger, error.errData().getStringWithoutLengthAscii(0, error.errData().capacity()));
                if (version == OLD) {
                    assertEquals(9, mine.getByte(0), "the caller's buffer is ignored");
                    assertEquals(0, error.errDataSize(), "a member that does not exist stays as it was");
                } else {
                    assertEquals(stranger.length(), error.errDataSize());
                    assertEquals(stranger, mine.getStringWithoutLengthAscii(0, stranger.length()));
                }
            }
        }
    }

    @Test
    @Requirement("REF-003")
    void shouldPutErrorDataOfEventsWhereTheVersionSays() {
        for (int version : new int[] {OLD, FIRST_WITH_SIZES}) {
            try (Fabric fabric = open(version)) {
                Domain domain = fabric.domain(fabric.info(null).best());
                EventQueue queue = fabric.openEventQueue(new EventQueueAttr());
                AddressVector vector = domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
                vector.bind(queue, 0);
                vector.insert(new String[] {"no address"}, null, 1, 0);
                UnsafeBuffer mine = new UnsafeBuffer(new byte[128]);
                mine.setMemory(0, 128, (byte) 9);
                EventError error = new EventError().errDataBuffer(mine, 0, 128);
                await(() -> queue.readErr(error, 0), queue);
                assertEquals("no address",
                    error.errData().getStringWithoutLengthAscii(0, error.errData().capacity()));
                assertEquals(version == OLD ? 0 : "no address".length(), error.errDataSize());
                assertEquals(version == OLD ? 9 : 'n', mine.getByte(0));
            }
        }
    }

    @Test
    @Requirement({"REF-003", "EP-155", "EP-157"})
    void shouldIgnoreKeysBeforeVersionOneFive() {
        for (int version : new int[] {OLD, FIRST_WITH_SIZES}) {
            try (Fabric fabric = open(version)) {
                Info hints = new Info().caps(STRICT);
                hints.epAttr().authKey(new byte[] {1, 2, 3});
                Info plain = fabric.info(new Info().caps(STRICT)).best();
                assertEquals(version, plain.fabricAttr().apiVersion());
                Domain domain = fabric.domain(plain);
                Endpoint without = endpoint(domain, plain);
                plain.epAttr().authKey(new byte[] {1, 2, 3});
                Endpoint with = endpoint(domain, plain);
                Info match = fabric.info(hints).best();
                assertEquals(version == OLD ? 0 : 3, match.epAttr().authKeySize());
                assertEquals(version == OLD ? 0 : 3, with.info().epAttr().authKeySize());
                assertEquals(version == OLD, reaches(domain, with, without), "a key keeps them apart from 1.5 on");
                Info keyed = fabric.info(new Info().caps(STRICT)).best();
                keyed.domainAttr().authKey(new byte[] {1, 2, 3});
                assertEquals(version == OLD ? 0 : 3, fabric.domain(keyed).info().domainAttr().authKeySize());
            }
        }
    }

    /** Whether a message of the one arrives at the other. */
    private static boolean reaches(Domain domain, Endpoint from, Endpoint to) {
        AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
        MemoryRegion memory = domain.allocate(64);
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(8));
        Endpoint sender = domain.openEndpoint(from.info());
        sender.bind(queue, Flags.TRANSMIT | Flags.RECV);
        sender.bind(vector);
        sender.enable();
        assertEquals(0, sender.tsend(memory.address(), 8, vector.insert(to.name()), 1, 1));
        UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        long deadline = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = queue.read(entry, 0, 1)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "nothing in " + queue);
            Thread.yield();
        }
        return result == 1;
    }

    private static Endpoint endpoint(Domain domain, Info info) {
        return endpoint(domain, info, domain.openCompletionQueue(new CompletionQueueAttr().size(8)),
            domain.openAddressVector(new AddressVectorAttr()));
    }

    private Fabric open(int version) {
        return driver.fabric(new FabricConfig().apiVersion(version));
    }

    /** Reads the error entry of a message whose sender the receiver does not know; returns the sender's name. */
    private static String receiveFromStranger(Fabric fabric, CompletionError error) {
        Info info = fabric.info(new Info().caps(STRICT)).best();
        Domain domain = fabric.domain(info);
        MemoryRegion memory = domain.allocate(4096);
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(8));
        Endpoint receiver = endpoint(domain, info, queue, domain.openAddressVector(new AddressVectorAttr()));
        AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
        Endpoint sender = endpoint(domain, info, domain.openCompletionQueue(new CompletionQueueAttr().size(8)), vector);
        assertEquals(0, receiver.trecv(memory.address(), 64, -1L, 5, 0, 1));
        assertEquals(0, sender.tinject(new UnsafeBuffer(new byte[8]), 0, 8, vector.insert(receiver.name()), 5));
        await(() -> queue.readErr(error, 0), queue);
        return sender.name();
    }

    private static Endpoint endpoint(Domain domain, Info info, CompletionQueue queue, AddressVector vector) {
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        return endpoint;
    }

    private static void await(IntSupplier read, Object queue) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = read.getAsInt()) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "nothing in " + queue);
            Thread.yield();
        }
        assertEquals(1, result, queue::toString);
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
