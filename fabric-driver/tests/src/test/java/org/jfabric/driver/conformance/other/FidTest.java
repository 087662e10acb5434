package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Fid;
import org.jfabric.PortedCalls;
import org.jfabric.ScalableEndpoint;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What all objects have in common, on one object of each class. */
@Timeout(60)
class FidTest {
    private final Path base = TestDirectory.create();
    private final FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
        .directory(base.resolve("alpha")).threadingMode(ThreadingMode.INVOKER).build());
    private final Fabric fabric = driver.fabric(new FabricConfig().context(1));
    private final Info info = fabric.info(new Info().caps(Flags.TAGGED)).best();
    private final Domain domain = fabric.domain(info, 2);
    private final Fid endpoint = domain.openEndpoint(info, 3);
    private final Fid completions = domain.openCompletionQueue(new CompletionQueueAttr().size(16), 4);
    private final Fid counts = domain.openCounter(new CounterAttr(), 9);
    private final Fid events = fabric.openEventQueue(new EventQueueAttr(), 5);
    private final Fid vector = domain.openAddressVector(new AddressVectorAttr(), 6);
    private final Fid allocated = domain.allocate(4096, 7);
    private final Fid registered = domain.register(Arena.ofAuto().allocate(4096, 64), 8);
    private final Fid waits = fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.UNSPEC));
    private final Fid polls = domain.openPollSet(0);
    /** Those that others need stand behind them. */
    private final List<Fid> all = List.of(
        endpoint, completions, counts, events, vector, allocated, registered, waits, polls, domain, fabric);

    @AfterEach
    void close() {
        fabric.close();
        driver.close();
        TestDirectory.delete(base);
    }

    @Test
    @Requirement("REF-016")
    void shouldTellClassAndContextOfEveryObject() {
        assertEquals(List.of(FidClass.EP, FidClass.CQ, FidClass.CNTR, FidClass.EQ, FidClass.AV, FidClass.MR,
            FidClass.MR, FidClass.WAIT, FidClass.POLL, FidClass.DOMAIN, FidClass.FABRIC),
            all.stream().map(Fid::fidClass).toList());
        assertEquals(List.of(3L, 4L, 9L, 5L, 6L, 7L, 8L, 0L, 0L, 2L, 1L), all.stream().map(Fid::context).toList());
        assertEquals(0, domain.openEndpoint(info).context());
        assertEquals(0, domain.openAddressVector(new AddressVectorAttr()).context());
        assertEquals(0, domain.allocate(1).context());
        assertEquals(0, domain.register(Arena.ofAuto().allocate(64)).context());
        Info connected = new Info().caps(Flags.MSG);
        connected.epAttr().type(EndpointType.MSG);
        Info several = new Info().caps(Flags.TAGGED);
        several.epAttr().txCtxCnt(2).rxCtxCnt(2);
        ScalableEndpoint scalable = domain.openScalableEndpoint(fabric.info(several).best(), 11);
        List<Fid> others = List.of(fabric.openPassiveEndpoint(fabric.info(connected).best(), 10), scalable,
            scalable.txContext(0, null, 12), scalable.rxContext(1, null, 13),
            domain.openSharedTransmitContext(new TxAttr(), 14), domain.openSharedReceiveContext(new RxAttr(), 15));
        assertEquals(List.of(FidClass.PEP, FidClass.SEP, FidClass.TX_CTX, FidClass.RX_CTX, FidClass.STX_CTX,
            FidClass.SRX_CTX), others.stream().map(Fid::fidClass).toList());
        assertEquals(List.of(10L, 11L, 12L, 13L, 14L, 15L), others.stream().map(Fid::context).toList());
    }

    @Test
    @Requirement("REF-016")
    void shouldBindWithoutKnowingTheKind() {
        endpoint.bind(completions, Flags.TRANSMIT | Flags.RECV);
        assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.bind(vector, 1)));
        endpoint.bind(vector, 0);
        endpoint.bind(events, 0);
        endpoint.bind(counts, Flags.SEND);
        assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(allocated, 0)), "enabled from the start");
        assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(null, 0)));
        ((Endpoint) endpoint).enable();
        assertEquals(FabricErrno.EINVAL, errno(() -> allocated.bind(completions, 0)));
        assertEquals(FabricErrno.EOPBADSTATE, errno(() -> allocated.bind(endpoint, 0)), "enabled from the start");
        assertEquals(FabricErrno.EINVAL, errno(() -> vector.bind(completions, 0)));
        // the right kind for a vector that has no events
        assertEquals(FabricErrno.EINVAL, errno(() -> vector.bind(events, 0)));
        Fid asynchronous = domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
        asynchronous.bind(events, 0);
        for (Fid other : List.of(fabric, domain, completions, counts, events, waits, polls)) {
            assertEquals(FabricErrno.ENOSYS, errno(() -> other.bind(endpoint, 0)), other::toString);
        }
    }

    @Test
    @Requirement("REF-016")
    void shouldControlAndCloseWithoutKnowingTheKind() {
        WaitObjectHandle handle = new WaitObjectHandle();
        for (Fid fid : List.of(completions, counts, waits)) {
            assertEquals(0, PortedCalls.control(fid, ControlCommand.GETWAITOBJ.code(), handle), fid::toString);
        }
        for (Fid fid : all) {
            assertTrue(fid.isOpen(), fid::toString);
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(fid, 4711, handle), fid::toString);
        }
        for (Fid fid : all) {
            fid.close();
            fid.close();
            assertFalse(fid.isOpen(), fid::toString);
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(fid, 4711, handle), fid::toString);
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
