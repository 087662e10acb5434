package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code of docs/stream-logs.md: it compiles, it runs, and the page shows it as it is here. */
class LogPageTest {
    private final Path folder = TestDirectory.create();
    private long messages;

    @AfterEach
    void after() {
        TestDirectory.delete(folder);
    }

    // example: read
    /** Takes all messages from a position on. Returns where to go on later. */
    long read(Path log, long position) {
        StreamListener listener = new StreamListener() {
            @Override
            public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                take(header.position(), buffer, offset, length);
            }

            @Override
            public void onGap(long firstPosition, long lastPosition) {
                System.err.println("messages " + firstPosition + " to " + lastPosition + " are lost");
            }
        };
        try (LogReader reader = LogReader.open(log).from(position)) {
            while (reader.poll(listener, 64) > 0) {
                Thread.onSpinWait();
            }
            return reader.position();
        }
    }
    // end of example

    private void take(long position, DirectBuffer buffer, int offset, int length) {
        messages++;
        assertEquals(LogKit.length(position), length);
        assertTrue(offset + length <= buffer.capacity());
    }

    @Test
    void shouldShowTheCode() throws IOException {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            new LogKit().append(writer, 100);
        }
        assertEquals(100, read(folder, 10));
        assertEquals(90, messages);
        ExamplePage.assertShows("docs/stream-logs.md", LogPageTest.class, 1);
    }
}
