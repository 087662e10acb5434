package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class LinkProvidersTest {
    private static DriverConfig enabled(List<String> names) {
        return DriverConfig.builder().set(LinkConfig.ENABLED, names).build();
    }

    @Test
    void shouldHaveTheLinksThatTheConfigurationNamesAndNoOther() {
        assertEquals(LinkConfig.NAMES.size() + 1, LinkProviders.enabled(enabled(LinkConfig.NAMES)).size());
        FabricException refused = assertThrows(FabricException.class,
            () -> LinkProviders.enabled(enabled(List.of("nosuch"))));
        assertEquals(FabricErrno.ENODEV, refused.errno());
        assertTrue(refused.getMessage().contains(LinkConfig.NAMES.toString()), refused::getMessage);
    }
}
