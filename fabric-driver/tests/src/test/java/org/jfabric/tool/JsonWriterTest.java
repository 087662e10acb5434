package org.jfabric.tool;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;

class JsonWriterTest {
    @Test
    void shouldPutCommasBetweenMembersAndElementsOnly() {
        String text = new JsonWriter().beginObject()
            .member("a", 1).name("b").beginArray().value("x").value(true).beginObject().endObject().endArray()
            .name("c").beginObject().member("d", (String) null).endObject()
            .endObject().toString();

        assertEquals("{\"a\":1,\"b\":[\"x\",true,{}],\"c\":{\"d\":null}}", text);
    }

    @Test
    void shouldEscapeWhatJsonDoesNotTakeAsItIs() {
        String awkward = "quote \" backslash \\ line\n\r tab\t bell\u0007 euro € pair \uD83D\uDE00 lone \uD800";

        String text = new JsonWriter().value(awkward).toString();

        assertEquals(awkward, JsonText.parse(text));
    }

    @Test
    void shouldRoundToOneDecimal() {
        String text = new JsonWriter().beginArray()
            .value(0.0).value(71.26).value(71.25).value(-0.04).value(-1.56).value(123456789.96).value(Double.NaN)
            .value(Double.POSITIVE_INFINITY).endArray().toString();

        assertEquals("[0.0,71.3,71.3,0.0,-1.6,123456790.0,null,null]", text);
    }

    @Test
    void shouldWriteNumbersThatReadersTake() {
        String text = new JsonWriter().beginArray().value(Long.MIN_VALUE).value(1e300).endArray().toString();

        assertEquals(Arrays.asList((double) Long.MIN_VALUE, 1e300), JsonText.parse(text));
    }

    @Test
    void shouldKeepTheOrderOfMembers() {
        String text = new JsonWriter().beginObject().member("z", 1).member("a", 2).endObject().toString();

        assertEquals(List.of("z", "a"), List.copyOf(JsonText.object(text).keySet()));
        assertEquals(Map.of("z", 1.0, "a", 2.0), JsonText.object(text));
    }
}
