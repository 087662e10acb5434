package org.jfabric.tool;

/**
 * A command cannot do what it was asked for; the message is one sentence for the user, with what to do about it.
 */
final class ToolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ToolException(String sentence) {
        super(sentence);
    }

    ToolException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
