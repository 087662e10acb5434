package org.jfabric.tool;

/**
 * A command cannot be carried out; the message is one sentence for the user, with the remedy.
 */
public final class ToolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A reason of our own. */
    public ToolException(String sentence) {
        super(sentence);
    }

    /** Wraps the original error. */
    public ToolException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
