package org.jfabric.client;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.info.Reason;

/**
 * Reasons of a verdict as the text of one field: a line for each, its four parts apart by tabulators.
 *
 * <p>Pure functions; any thread.
 */
public final class ReasonText {
    private static final int PARTS = 4;

    private ReasonText() {
    }

    /** Writes reasons. Returns the text for {@link #parse(String)}. */
    public static String format(List<Reason> reasons) {
        StringBuilder text = new StringBuilder();
        for (Reason reason : reasons) {
            text.append(plain(reason.condition())).append('\t').append(plain(reason.seen())).append('\t')
                .append(plain(reason.needed())).append('\t').append(plain(reason.remedy())).append('\n');
        }
        return text.toString();
    }

    /**
     * Reads reasons; a line that has not four parts becomes a reason that shows it as it is.
     *
     * @param text of {@link #format(List)}.
     */
    public static List<Reason> parse(String text) {
        List<Reason> reasons = new ArrayList<>();
        for (String line : text.split("\n")) {
            if (!line.isBlank()) {
                String[] parts = line.split("\t", PARTS);
                reasons.add(parts.length == PARTS ? new Reason(parts[0], parts[1], parts[2], parts[3])
                    : new Reason("driver", line, "", ""));
            }
        }
        return reasons;
    }

    private static String plain(String part) {
        return part.replace('\t', ' ').replace('\n', ' ');
    }
}
