package org.jfabric.layout;

import java.util.Locale;
import java.util.Map;

/**
 * The label of a counter that exists while an endpoint waits for another one; its value is how many operations wait.
 * The constants are the reasons.
 *
 * <p>Programs read the {@link MetricLabel}, people a sentence that is made of it.
 */
public enum WaitLabel {
    /** The other endpoint has granted no more credit. */
    CREDIT("sends of %s held back by %s"),
    /** Messages without a receive at the other endpoint use up the credit. */
    RECEIVES("messages of %s without a receive at %s hold it back"),
    /** The completion queue of the other endpoint has no free slot. */
    COMPLETIONS("remote access of %s held back by unread completions of %s"),
    /** A group waits for a reader that is a ring behind; the value is the messages that it has yet to read. */
    READER("messages of %s held back by its reader %s");

    /** Name of the metric. */
    public static final String METRIC = "jfabric_waiting";
    /** Label with {@link #reason}. */
    public static final String REASON = "reason";
    /** Label with the address of the endpoint that waits. */
    public static final String WHO = "endpoint";
    /** Label with the address of the endpoint that is waited for. */
    public static final String WHOM = "waits_for";

    private final String sentence;

    WaitLabel(String sentence) {
        this.sentence = sentence;
    }

    /** The value of the label {@link #REASON}. */
    public String reason() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Writes a label.
     *
     * @param who  address of the endpoint that waits.
     * @param whom address of the endpoint that is waited for.
     */
    public String text(String who, String whom) {
        return MetricLabel.text(METRIC, REASON, reason(), WHO, who, WHOM, whom);
    }

    /** The label of any counter as people read it: a sentence if it is one of these, otherwise as it is. */
    public static String readable(String label) {
        MetricLabel parsed = MetricLabel.parse(label);
        if (parsed != null && parsed.name().equals(METRIC)) {
            Map<String, String> labels = parsed.labels();
            for (WaitLabel each : values()) {
                if (each.reason().equals(labels.get(REASON))) {
                    return String.format(Locale.ROOT, each.sentence, labels.get(WHO), labels.get(WHOM));
                }
            }
        }
        return label;
    }
}
