package org.jfabric.driver.conformance;

import org.jfabric.EndpointType;
import org.jfabric.Fabric;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Mode;
import org.jfabric.test.Capability;
import org.jfabric.test.RequirementTable;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * No link offers what {@code docs/requirements.md} calls missing. When this fails, the capability is there: mark it as
 * existing, and its rows are due.
 */
class MissingCapabilityTest {
    @Test
    void shouldBeOfferedByNoLink() throws Exception {
        RequirementTable table = RequirementTable.read(Path.of("../docs/requirements.md"));
        int asked = 0;
        try (FabricPair pair = new FabricPair(Setup.LOOPBACK_EMBEDDED)) {
            for (Capability capability : table.capabilities()) {
                for (String condition : capability.discovery()) {
                    assertEquals(List.of(), offers(pair.a.fabric, condition), capability.name());
                    asked++;
                }
            }
        }
        assertTrue(asked > 5, "the document names " + asked + " conditions");
    }

    private static List<Info> offers(Fabric fabric, String condition) throws ReflectiveOperationException {
        String name = condition.substring(condition.indexOf(' ') + 1);
        return switch (condition.substring(0, condition.indexOf(' '))) {
            case "caps" -> fabric.info(new Info().caps(Flags.class.getField(name).getLong(null))).matches();
            case "mode" -> {
                long bit = Mode.class.getField(name).getLong(null);
                yield fabric.info(new Info().mode(-1L)).matches().stream()
                    .filter(offer -> (offer.mode() & bit) != 0).toList();
            }
            case "type" -> {
                Info hints = new Info();
                hints.epAttr().type(EndpointType.valueOf(name));
                yield fabric.info(hints).matches();
            }
            default -> throw new AssertionError("no such condition: " + condition);
        };
    }
}
