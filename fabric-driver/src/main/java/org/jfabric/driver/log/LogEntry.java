package org.jfabric.driver.log;

import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.regex.Pattern;

/**
 * One line of the log.
 *
 * @param level      INFO, WARNING or ERROR.
 * @param event      its kind, such as {@code client-came}.
 * @param clientId   number of the client, 0 if it concerns none.
 * @param clientName of the client, may be empty.
 * @param pid        process of the client, 0 if it is unknown.
 */
record LogEntry(Instant time, Level level, String event, long clientId, String clientName, int pid, String text) {
    private static final Pattern BREAK = Pattern.compile("\\s*\\R\\s*");

    LogEntry(Level level, String event, String text) {
        this(Instant.now(), level, event, 0, "", 0, text);
    }

    /** The same event with more text. */
    LogEntry with(String longer) {
        return new LogEntry(time, level, event, clientId, clientName, pid, longer);
    }

    /** Returns the line for people, without its end and without line breaks. */
    String toText() {
        return time + " " + level + ' ' + toMessage();
    }

    /** Returns the same without time and level, which a logger adds itself. */
    String toMessage() {
        StringBuilder out = new StringBuilder(event);
        if (clientId != 0) {
            out.append(" client=").append(clientId).append(" pid=").append(pid);
            if (!clientName.isEmpty()) {
                out.append(" name=");
                JsonString.quote(out, clientName);
            }
        }
        return out.append(": ").append(oneLine(text)).toString();
    }

    String toJson() {
        StringBuilder out = new StringBuilder("{\"time\":\"").append(time).append("\",\"level\":\"").append(level)
            .append("\",\"event\":\"").append(event).append('"');
        if (clientId != 0) {
            out.append(",\"client\":").append(clientId).append(",\"pid\":").append(pid).append(",\"name\":");
            JsonString.quote(out, clientName);
        }
        out.append(",\"text\":");
        JsonString.quote(out, oneLine(text));
        return out.append('}').toString();
    }

    private static String oneLine(String text) {
        return BREAK.matcher(text.strip()).replaceAll(" | ");
    }
}
