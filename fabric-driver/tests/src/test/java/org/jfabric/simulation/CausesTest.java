package org.jfabric.simulation;

import java.util.Set;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CausesTest {
    private static final Set<Fault.Kind> NONE = Set.of();

    @Test
    void shouldExplainFilesOfThePeersNextLifeByAKillOfAnyNode() {
        Throwable error = new FabricException(
            FabricErrno.EIO, "file 6.ring of driver n0: the file belongs to driver 9422, expected dfad", "");
        assertTrue(Causes.explain(error, NONE, Set.of(Fault.Kind.KILL)));
        assertFalse(Causes.explain(error, NONE, Set.of(Fault.Kind.STOP)));
    }

    @Test
    void shouldExplainAFailedAccessByAFaultOfTheNodesOwnMemory() {
        Throwable error = new FabricException(FabricErrno.EIO,
            "a client could not be attached: a fault of the simulation occurred in a recent unsafe memory access", "");
        assertTrue(Causes.explain(error, Set.of(Fault.Kind.MEMORY), Set.of(Fault.Kind.MEMORY)));
        assertFalse(Causes.explain(error, NONE, Set.of(Fault.Kind.MEMORY)));
    }
}
