package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.HmemPeerToPeer;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What depends on the environment of the process. */
class EndpointOptionsTest {
    @Test
    @Requirement(refused = "EP-103")
    void shouldFollowTheVariableThatDisablesPeerToPeer() {
        assertEquals("FI_HMEM_DISABLE_P2P", EndpointOptions.DISABLE_P2P);
        for (String set : List.of("1", "true", "TRUE", "yes", "on")) {
            assertTrue(EndpointOptions.isSet(set), set);
        }
        for (String unset : List.of("", "0", "false", "no", "off")) {
            assertFalse(EndpointOptions.isSet(unset), unset);
        }
        assertFalse(EndpointOptions.isSet(null));
        EndpointOptions options = new EndpointOptions(new Info(), new BufferedOptions(64, 64), true);
        assertEquals(HmemPeerToPeer.DISABLED.code(), options.get(EndpointOption.FI_HMEM_P2P));
        options.set(EndpointOption.FI_HMEM_P2P, HmemPeerToPeer.ENABLED.code(), true);
        assertEquals(HmemPeerToPeer.DISABLED.code(), options.get(EndpointOption.FI_HMEM_P2P));
        assertEquals(FabricErrno.EOPNOTSUPP, assertThrows(FabricException.class,
            () -> options.set(EndpointOption.FI_HMEM_P2P, HmemPeerToPeer.REQUIRED.code(), true)).errno());
        assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class,
            () -> options.set(EndpointOption.FI_HMEM_P2P, 9, true)).errno());
        assertEquals(HmemPeerToPeer.ENABLED.code(),
            new EndpointOptions(new Info(), new BufferedOptions(64, 64), false).get(EndpointOption.FI_HMEM_P2P));
    }

    @ParameterizedTest
    @CsvSource({"1, true", "TRUE, true", "yes, true", "On, true", "0, false", "no, false", "'', false", ", false"})
    void shouldReadTheVariableAsABoolean(String value, boolean set) {
        assertEquals(set, EndpointOptions.isSet(value));
    }
}
