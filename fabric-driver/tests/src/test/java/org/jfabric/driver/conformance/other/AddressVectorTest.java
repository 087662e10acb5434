package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.jfabric.AddressVector;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Address vectors of every type: what is promised of a number is the same, only TABLE promises that it counts. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class AddressVectorTest {
    private static final int COUNT = 10;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-017")
    void shouldInsertLookUpAndRemoveInVectorsOfEveryType(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (AddressVectorType type : AddressVectorType.values()) {
                try (AddressVector vector = open(pair.a, type)) {
                    assertEquals(type, vector.type());
                    Map<Long, String> inserted = new HashMap<>();
                    for (int i = 0; i < COUNT; i++) {
                        long fiAddr = vector.insert(pair.neighbour(pair.b, i));
                        assertTrue(fiAddr != FabricAddress.ADDR_NOTAVAIL && fiAddr != FabricAddress.ADDR_UNSPEC);
                        assertTrue(type != AddressVectorType.TABLE || fiAddr == i, "a table counts from 0");
                        inserted.put(fiAddr, pair.neighbour(pair.b, i));
                    }
                    assertEquals(COUNT, inserted.size(), "one number for each address");
                    assertEquals(COUNT, vector.size());
                    inserted.forEach((fiAddr, address) -> {
                        assertEquals(address, vector.lookup(fiAddr));
                        assertEquals(address, vector.straddr(fiAddr));
                        vector.remove(fiAddr);
                        assertEquals(FabricErrno.EINVAL, errno(() -> vector.lookup(fiAddr)));
                        assertEquals(FabricErrno.EINVAL, errno(() -> vector.remove(fiAddr)));
                        assertNotEquals(address, vector.straddr(fiAddr));
                    });
                    assertEquals(0, vector.size());
                    assertEquals(FabricErrno.EINVAL, errno(() -> vector.insert("no address")));
                }
            }
        }
    }

    /** As destination, as source of a directed receive, as reported source, and after its removal. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-017")
    void shouldReachPeersThroughVectorsOfEveryType(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (AddressVectorType type : AddressVectorType.values()) {
                AddressVector vector = open(pair.a, type);
                Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(vector);
                endpoint.enable();
                // not the first one, so that the number is not 0 in a table
                vector.insert(endpoint.name());
                long toB = vector.insert(pair.b.endpoint.name());
                long back = pair.b.av.insert(endpoint.name());
                for (int length : new int[] {8, 4000, 200_000}) {
                    pair.a.fill(0, length, length);
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), length, back, 1, 0, 1));
                    assertEquals(0, endpoint.tsend(pair.a.memory.address(), length, toB, 1, 2));
                    assertEquals(back, pair.b.await(1).source());
                    pair.a.await(2);
                    pair.b.assertFilled(0, length, length);
                    // and the other way round: found and reported by that number
                    assertEquals(0, endpoint.trecv(pair.a.memory.address(1 << 20), length, toB, 3, 0, 3));
                    assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), length, back, 3, 4));
                    assertEquals(toB, pair.a.await(3).source(), type.toString());
                    pair.b.await(4);
                    pair.a.assertFilled(1 << 20, length, length);
                }
                vector.remove(toB);
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 8, toB, 1, 5));
                FabricNode.Entry refused = pair.a.await();
                assertEquals(FabricErrno.EINVAL, refused.err(), refused::toString);
                assertEquals(5, refused.context());
                assertEquals(FabricErrno.EBUSY, errno(vector::close));
                endpoint.close();
                vector.close();
            }
        }
    }

    private static AddressVector open(FabricNode node, AddressVectorType type) {
        return node.domain.openAddressVector(new AddressVectorAttr().type(type));
    }

    private static int errno(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
