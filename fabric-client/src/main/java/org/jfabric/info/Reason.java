package org.jfabric.info;

/**
 * One reason why a candidate link was chosen or rejected.
 *
 * <p>Use: {@code verdict.reasons().forEach(System.out::println)}.
 *
 * @param condition what was examined, for instance {@code caps} or {@code /dev/shm space}.
 * @param seen      the value found, with its unit.
 * @param needed    the value that would have been enough, with its unit.
 * @param remedy    what the reader can do, or an empty string if nothing has to be done.
 */
public record Reason(String condition, String seen, String needed, String remedy) {
    /**
     * Checks that no part is missing.
     */
    public Reason {
        Codes.required(condition, "condition");
        Codes.required(seen, "seen");
        Codes.required(needed, "needed");
        Codes.required(remedy, "remedy");
    }

    /**
     * The reason as one sentence.
     *
     * @return for instance {@code caps: seen MSG, needed MSG|TAGGED. Use another link.}
     */
    @Override
    public String toString() {
        String facts = condition + ": seen " + seen + ", needed " + needed + ".";
        return remedy.isEmpty() ? facts : facts + " " + remedy;
    }
}
