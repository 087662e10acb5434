package org.jfabric.tool.doctor;

/** A word of a command that a user copies into a shell. */
final class ShellWord {
    private static final String PLAIN = "[A-Za-z0-9_/.:@%+=,-]+";

    private ShellWord() {
    }

    /** The word, in quotes if a shell would not take it as it is. */
    static String of(Object word) {
        String text = word.toString();
        return text.matches(PLAIN) ? text : '\'' + text.replace("'", "'\\''") + '\'';
    }
}
