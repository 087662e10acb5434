package org.jfabric.tool;

/**
 * A command cannot do what it was asked for; the message is one sentence for the user, with what to do about it.
 */
public final class ToolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A reason of our own.
     *
     * @param sentence for the user.
     */
    public ToolException(String sentence) {
        super(sentence);
    }

    /**
     * A reason that came from elsewhere.
     *
     * @param sentence for the user.
     * @param cause    where it came from.
     */
    public ToolException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
