package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.link.LinkSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        for (String name : LinkConfig.NAMES) {
            assertTrue(refused.getMessage().contains(name), refused::getMessage);
        }
    }

    /** Called by the next test in a class loader that has the driver alone. Returns code and text of the refusal. */
    static String refusal(String link) {
        FabricException refused = assertThrows(FabricException.class,
            () -> LinkProviders.enabled(enabled(List.of("loopback", "shm", "tcp", link))));
        return refused.errno() + " " + refused.getMessage();
    }

    @ParameterizedTest
    @CsvSource({
        "packet, org.jfabric:jfabric-packet",
        "rxm, org.jfabric:jfabric-libfabric-wires",
        "tls, org.jfabric:jfabric-secure",
        "dtls, org.jfabric:jfabric-secure",
        "tlsrxm, org.jfabric:jfabric-libfabric-wires and org.jfabric:jfabric-secure",
        "verbs, org.jfabric:jfabric-rdma",
        "verbsud, org.jfabric:jfabric-rdma",
        "verbsrxm, org.jfabric:jfabric-libfabric-wires and org.jfabric:jfabric-rdma"
    })
    void shouldNameTheArtifactThatHasTheLink(String link, String artifacts) throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            URL place = Path.of(entry).toUri().toURL();
            try (URLClassLoader alone = new URLClassLoader(new URL[] {place}, null)) {
                if (Files.exists(Path.of(entry))
                    && alone.getResource("META-INF/services/" + LinkSource.class.getName()) == null) {
                    path.add(place);
                }
            }
        }
        try (URLClassLoader driver =
            new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Method refusal = driver.loadClass(getClass().getName()).getDeclaredMethod("refusal", String.class);
            refusal.setAccessible(true);
            String text = (String) refusal.invoke(null, link);
            assertTrue(text.startsWith(FabricErrno.ENODEV + " "), text);
            assertTrue(text.contains("Add " + artifacts + " to the class path"), text);
        }
    }
}
