package org.jfabric.simulation;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Which errors a driver may record because of which faults. */
final class Causes {
    /**
     * What explains an error.
     *
     * @param isOfPeer whether also a fault of another node does.
     */
    private record Cause(Pattern text, boolean isOfPeer, Set<Fault.Kind> kinds) {
    }

    private static final List<Cause> CAUSES = List.of(
        cause("died: its socket ended and it had not closed", true, Fault.Kind.KILL),
        // a peer that is killed while the connection is made takes its files with it
        cause("no driver listens at|there is no driver directory|ENOENT.*\\.ring|has removed its files", true,
            Fault.Kind.KILL),
        cause("a peer driver closed the connection", true, Fault.Kind.KILL, Fault.Kind.DISK, Fault.Kind.DESCRIPTORS),
        // also one that is awaited after both had begun: it has failed, or is gone
        cause("did not answer in time", true, Fault.Kind.STOP, Fault.Kind.KILL, Fault.Kind.DISK,
            Fault.Kind.DESCRIPTORS),
        // the files of the peer's next life have the names of those that are gone
        cause("the file belongs to driver|ENOENT.*\\.mr", true, Fault.Kind.KILL),
        cause("an access to shared memory failed|memory whose file was truncated|a fault of the simulation occurred",
            false, Fault.Kind.MEMORY),
        cause("was not accepted: ", false, Fault.Kind.CALLS, Fault.Kind.DESCRIPTORS),
        cause("EMFILE", false, Fault.Kind.CALLS, Fault.Kind.DESCRIPTORS),
        cause("does not read group .* any more: ", true, Fault.Kind.KILL, Fault.Kind.CUT, Fault.Kind.STOP),
        cause("ENOSPC|no room for message|closed at message", false, Fault.Kind.DISK),
        cause("is not recorded any more|the log .* was closed at", false, Fault.Kind.LOG));

    private Causes() {
    }

    private static Cause cause(String text, boolean isOfPeer, Fault.Kind... kinds) {
        return new Cause(Pattern.compile(text), isOfPeer, Set.of(kinds));
    }

    /** Whether faults explain an error that a driver has recorded. */
    static boolean explain(Throwable error, Set<Fault.Kind> own, Set<Fault.Kind> all) {
        String text = String.valueOf(error.getMessage());
        return CAUSES.stream().anyMatch(cause -> cause.text.matcher(text).find()
            && cause.kinds.stream().anyMatch(cause.isOfPeer ? all::contains : own::contains));
    }
}
