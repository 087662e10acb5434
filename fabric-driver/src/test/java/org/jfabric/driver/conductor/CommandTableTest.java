package org.jfabric.driver.conductor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Every command of the schema has its line in the table, with the right number of variable-length fields. */
class CommandTableTest {
    private static final Path SCHEMA = Path.of("..", "codecs", "src", "main", "resources", "control.xml");
    /** Template ids of commands; those below belong to the handshake, those above to answers and events. */
    private static final int FIRST_COMMAND = 10;
    private static final int FIRST_ANSWER = 40;

    @Test
    void shouldHaveALineForEveryCommandOfTheSchema() throws Exception {
        NodeList messages = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(SCHEMA.toFile())
            .getElementsByTagName("sbe:message");
        Map<Integer, Integer> schema = new TreeMap<>();
        for (int i = 0; i < messages.getLength(); i++) {
            Element message = (Element) messages.item(i);
            int id = Integer.parseInt(message.getAttribute("id"));
            if (id >= FIRST_COMMAND && id < FIRST_ANSWER) {
                schema.put(id, message.getElementsByTagName("data").getLength());
            }
        }
        Map<Integer, Integer> table = new TreeMap<>();
        for (int id = 0; id <= CommandTable.MAX_TEMPLATE_ID; id++) {
            CommandTable.Entry entry = CommandTable.get(id);
            if (entry != null) {
                table.put(id, entry.varFields());
            }
        }
        assertEquals(schema, table);
    }
}
