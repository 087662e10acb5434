package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Map;
import org.jfabric.client.DefaultDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("sets a system property")
class FabricConfigTest {
    @Test
    void shouldFindTheDriverByTheEnvironmentUnlessAPropertyIsSet() {
        Map<String, String> environment = Map.of("JFABRIC_DIR_BASE", "/run/fabric", "JFABRIC_DIR_NAME", "desk");
        assertEquals(Path.of("/run/fabric/desk"), new FabricConfig(environment).directory());
        System.setProperty(DefaultDirectory.NAME_PROPERTY, "quotes");
        try {
            assertEquals(Path.of("/run/fabric/quotes"), new FabricConfig(environment).directory());
        } finally {
            System.clearProperty(DefaultDirectory.NAME_PROPERTY);
        }
        Map<String, String> empty = Map.of("JFABRIC_DIR_BASE", "", "JFABRIC_DIR_NAME", " ");
        assertEquals(
            DefaultDirectory.base().resolve(DefaultDirectory.DEFAULT_NAME), new FabricConfig(empty).directory());
    }
}
