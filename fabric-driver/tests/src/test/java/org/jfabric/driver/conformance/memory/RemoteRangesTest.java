package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.RemoteRequest;
import org.jfabric.RmaIoVec;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Reads and writes of several ranges of a peer's memory in one call. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RemoteRangesTest {
    private final RmaIoVec ranges = new RmaIoVec();
    private final RemoteRequest request = new RemoteRequest();

    private static long limit(RemoteMemoryPair pair) {
        return pair.a.endpoint.info().txAttr().rmaIovLimit();
    }

    private static long end(RemoteMemoryPair pair, int posted) {
        assertEquals(0, posted);
        return pair.a.await().err();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-045")
    void shouldFillOneRangeAfterTheOther(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            assumeTrue(limit(pair) > 1, "one range is the limit");
            MemoryRegion other = pair.region(300_000, RemoteMemoryPair.BOTH, RemoteMemoryPair.freshKey());
            for (int unit : new int[] {1, 8, 700, 60_000}) {
                pair.forget();
                other.buffer().setMemory(0, 300_000, (byte) 0);
                int length = 6 * unit;
                pair.a.fill(0, length, unit);
                ranges.clear().add(10, unit, other.key()).add(64, 2L * unit, pair.key).add(0, 0, pair.key)
                    .add(100_000, 3L * unit, other.key());
                request.clear().memory(pair.a.memory.address(), length).destAddr(pair.toB).remote(ranges)
                    .flags(Flags.COMPLETION | Flags.DELIVERY_COMPLETE);
                assertEquals(0, end(pair, pair.remote.writemsg(request)));
                FabricNode.assertPattern(other.buffer(), 10, unit, unit, 0);
                FabricNode.assertPattern(pair.bytes(), 64, 2 * unit, unit, unit);
                FabricNode.assertPattern(other.buffer(), 100_000, 3 * unit, unit, 3 * unit);
                pair.assertUntouched(0, 64);
                pair.assertUntouched(64 + 2 * unit, RemoteMemoryPair.LENGTH);
                assertEquals(0, other.buffer().getByte(10 + unit));

                pair.a.memory.buffer().setMemory(0, length, (byte) 0);
                request.flags(Flags.COMPLETION).memory(new IoVec().add(pair.a.memory.address(0), 4L * unit)
                    .add(pair.a.memory.address(4L * unit), 2L * unit));
                assertEquals(0, end(pair, pair.remote.readmsg(request)));
                FabricNode.assertPattern(pair.a.memory.buffer(), 0, length, unit, 0);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldInjectIntoSeveralRangesAndReportThemAsOne(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            assumeTrue(limit(pair) > 1, "one range is the limit");
            pair.a.fill(0, 48, 3);
            request.memory(pair.a.memory.address(), 48).destAddr(pair.toB).remoteCqData(77)
                .remote(ranges.add(0, 16, pair.key).add(512, 32, pair.key)).flags(Flags.INJECT);
            assertEquals(0, pair.remote.writemsg(request));
            pair.a.memory.buffer().setMemory(0, 48, (byte) 0);
            FabricNode.Entry report = pair.b.await();
            assertEquals(77, report.data());
            assertEquals(48, report.len());
            FabricNode.assertPattern(pair.bytes(), 0, 16, 3, 0);
            FabricNode.assertPattern(pair.bytes(), 512, 32, 3, 16);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TX-045")
    void shouldRefuseMoreRangesThanTheLimitAndThoseOfAnotherLength(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            request.memory(pair.a.memory.address(), 32).destAddr(pair.toB).remote(ranges);
            assertEquals(-FabricErrno.EINVAL, pair.remote.writemsg(request), "no range");
            ranges.add(0, 16, pair.key);
            assertEquals(-FabricErrno.EINVAL, pair.remote.writemsg(request), "too short");
            ranges.add(512, 16, pair.key);
            if (limit(pair) == 1) {
                assertEquals(-FabricErrno.EINVAL, pair.remote.writemsg(request));
                assertEquals(-FabricErrno.EINVAL, pair.remote.readmsg(request));
            }
            pair.assertUntouched(0, RemoteMemoryPair.LENGTH);
            ranges.clear().add(0, 32, pair.key);
            assertEquals(0, end(pair, pair.remote.writemsg(request.flags(Flags.COMPLETION))));
        }
    }
}
