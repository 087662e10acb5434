package org.jfabric.driver.engine;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class FlushListTest {
    private final FlushList list = new FlushList();
    private final List<String> published = new ArrayList<>();

    @Test
    void shouldAskOnlyThoseWithNews() {
        List<Writer> writers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            writers.add(new Writer("w" + i));
            list.add(writers.get(i));
        }
        list.flush();
        assertEquals(100, published.size(), "what was written before they came");
        published.clear();
        writers.get(70).changed();
        writers.get(3).changed();
        writers.get(70).changed();
        assertEquals(2, list.flush());
        assertEquals(List.of("w70", "w3"), published);
        assertEquals(0, list.flush());
    }

    @Test
    void shouldPublishWhatChangesWhileOthersPublish() {
        Writer second = new Writer("second");
        Writer first = new Writer("first");
        first.whenPublished = second::changed;
        list.add(first);
        list.add(second);
        list.flush();
        published.clear();
        first.changed();
        list.flush();
        assertEquals(List.of("first", "second"), published);
    }

    @Test
    void shouldAskAgainWhoeverWaits() {
        Writer waiting = new Writer("waiting");
        waiting.waits = true;
        list.add(new Writer("other"));
        list.add(waiting);
        list.flush();
        published.clear();
        list.flush();
        list.flush();
        assertEquals(List.of("waiting", "waiting"), published);
        waiting.waits = false;
        list.flush();
        published.clear();
        list.flush();
        assertEquals(List.of(), published);
        waiting.changed();
        list.flush();
        assertEquals(List.of("waiting"), published);
    }

    @Test
    void shouldForgetWhoeverLeft() {
        Writer leaving = new Writer("leaving");
        list.add(leaving);
        list.add(new Writer("staying"));
        list.remove(leaving);
        leaving.changed();
        list.flush();
        assertEquals(List.of("staying"), published);
        list.remove(leaving);
    }

    @Test
    void shouldAskAllOnceMoreAfterAFaultInTheMiddle() {
        Writer broken = new Writer("broken");
        list.add(new Writer("first"));
        list.add(broken);
        list.add(new Writer("last"));
        broken.whenPublished = () -> {
            throw new InternalError("cut");
        };
        assertThrows(InternalError.class, list::flush);
        broken.whenPublished = () -> { };
        published.clear();
        list.recover();
        list.flush();
        assertEquals(List.of("first", "broken", "last"), published);
        assertEquals(0, list.flush());
    }

    private final class Writer extends BatchWriter {
        private final String name;
        private Runnable whenPublished = () -> { };
        private boolean waits;

        Writer(String name) {
            this.name = name;
        }

        @Override
        int publish() {
            published.add(name);
            whenPublished.run();
            return 1;
        }

        @Override
        boolean staysListed() {
            return waits;
        }
    }
}
