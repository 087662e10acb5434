package org.jfabric.driver.conformance.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Capability;
import org.jfabric.test.RequirementTable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No link offers and no call takes what {@code docs/requirements/README.md} calls missing. When this fails, the
 * capability is there: mark it as existing, and its rows are due.
 */
@Tag("conformance")
class MissingCapabilityTest {
    private static final long ANY = -1L;

    @Test
    void shouldBeAcceptedByNobody() throws Exception {
        RequirementTable table = RequirementTable.read(Path.of("../docs/requirements"));
        try (FabricPair pair = new FabricPair(Setup.LOOPBACK_EMBEDDED)) {
            for (Capability capability : table.capabilities()) {
                for (String condition : capability.accepted()) {
                    assertEquals(List.of(), accepting(pair.a, condition), capability.name());
                }
            }
        }
        assertFalse(table.capabilities().isEmpty());
    }

    /** Offers and calls that take it. */
    private static List<?> accepting(FabricNode node, String condition) throws ReflectiveOperationException {
        String name = condition.substring(condition.indexOf(' ') + 1);
        return switch (condition.substring(0, condition.indexOf(' '))) {
            case "caps" -> node.fabric.info(new Info().caps(Flags.class.getField(name).getLong(null))).matches();
            case "mode" -> {
                long bit = Mode.class.getField(name).getLong(null);
                yield node.fabric.info(new Info().mode(-1L)).matches().stream()
                    .filter(offer -> (offer.mode() & bit) != 0).toList();
            }
            case "type" -> {
                Info hints = new Info();
                hints.epAttr().type(EndpointType.valueOf(name));
                yield node.fabric.info(hints).matches();
            }
            case "flag" -> calls(node, Flags.class.getField(name).getLong(null));
            default -> throw new AssertionError("no such condition: " + condition);
        };
    }

    private static List<String> calls(FabricNode node, long flag) {
        List<String> taken = new ArrayList<>();
        long buf = node.memory.address();
        long self = node.av.insert(node.endpoint.name());
        if (node.endpoint.messages().recvmsg(buf, 64, ANY, 1, flag) == 0) {
            taken.add("recvmsg");
        }
        if (node.endpoint.messages().trecvmsg(buf, 64, ANY, 1, 0, 1, flag) == 0) {
            taken.add("trecvmsg");
        }
        if (node.endpoint.messages().sendmsg(buf, 8, 0, self, 1, flag) == 0) {
            taken.add("sendmsg");
        }
        if (node.endpoint.messages().tsendmsg(buf, 8, 0, self, 1, 1, flag) == 0) {
            taken.add("tsendmsg");
        }
        return taken;
    }
}
