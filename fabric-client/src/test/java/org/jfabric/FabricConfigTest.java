package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("sets a system property")
class FabricConfigTest {
    @Test
    void shouldRefuseANameThatDoesNotFitIntoTheFirstMessage() {
        assertEquals(1000, new FabricConfig().clientName("é".repeat(1000)).clientName().length());
        assertEquals(FabricErrno.EINVAL, assertThrows(
            FabricException.class, () -> new FabricConfig().clientName("n".repeat(1001))).errno());
    }

    @Test
    void shouldRefuseANameThatNoFolderCanHave() {
        FabricConfig config = new FabricConfig();
        assertEquals(
            FabricErrno.EINVAL, assertThrows(FabricException.class, () -> config.driverName("a\0b")).errno());
    }

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
        Map<String, String> other = Map.of("JFABRIC_CLIENT_DRIVER_USER", "20001");
        assertEquals("20001", new FabricConfig(other).driverUser());
        assertTrue(new FabricConfig(other).directory().endsWith("jfabric-20001/default"), "its driver's folder");
        assertEquals(DefaultDirectory.base(), new FabricConfig(other).driverUser("").base());
        System.setProperty(FabricConfig.DRIVER_USER_PROPERTY, "root");
        try {
            assertTrue(new FabricConfig(other).directory().endsWith("jfabric-0/default"), "the property comes first");
        } finally {
            System.clearProperty(FabricConfig.DRIVER_USER_PROPERTY);
        }
        FabricConfig unknown = new FabricConfig(Map.of()).driverUser("no-such-user-here");
        assertTrue(unknown.toString().contains("no-such-user-here"), unknown::toString);
        FabricException refused = assertThrows(FabricException.class, unknown::directory);
        assertEquals(FabricErrno.EINVAL, refused.errno());
        Map<String, String> empty = Map.of("JFABRIC_DIR_BASE", "", "JFABRIC_DIR_NAME", " ");
        assertEquals(
            DefaultDirectory.base().resolve(DefaultDirectory.DEFAULT_NAME), new FabricConfig(empty).directory());
    }
}
