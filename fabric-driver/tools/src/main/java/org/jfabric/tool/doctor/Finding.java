package org.jfabric.tool.doctor;

import java.util.List;

/**
 * What a check found.
 *
 * @param seen     value or state found.
 * @param remedy   what to do, one or two sentences; empty if nothing has to be done.
 * @param commands that do it, for a shell; none if there are no such commands. Nothing runs them.
 */
public record Finding(String check, Grade grade, String seen, String remedy, List<String> commands) {
    static Finding ok(String check, String seen) {
        return new Finding(check, Grade.OK, seen, "", List.of());
    }

    static Finding note(String check, String seen, String remedy, String... commands) {
        return new Finding(check, Grade.NOTE, seen, remedy, List.of(commands));
    }

    static Finding warning(String check, String seen, String remedy, String... commands) {
        return new Finding(check, Grade.WARNING, seen, remedy, List.of(commands));
    }

    static Finding error(String check, String seen, String remedy, String... commands) {
        return new Finding(check, Grade.ERROR, seen, remedy, List.of(commands));
    }
}
