package org.jfabric.tool.doctor;

/** Transparent huge pages, of private and of shared memory. */
final class TransparentHugePagesCheck implements Check {
    private static final String NAME = "transparent huge pages";
    private static final String FOLDER = "/sys/kernel/mm/transparent_hugepage/";

    @Override
    public Finding examine(Host host) {
        String own = chosen(host.line(FOLDER + "enabled"));
        String shared = chosen(host.line(FOLDER + "shmem_enabled"));
        if (own.isEmpty()) {
            return Finding.ok(NAME, "this kernel has none");
        }
        String seen = "private memory " + own + ", shared memory " + (shared.isEmpty() ? "unknown" : shared);
        if (own.equals("always")) {
            return Finding.warning(NAME, seen, "The kernel assembles huge pages at any time, which stalls threads."
                + " Programs that want them still get them with madvise.", "echo madvise > " + FOLDER + "enabled");
        }
        return shared.equals("never") || shared.equals("deny")
            ? Finding.note(NAME, seen, "Large messages between processes are copied faster with huge pages in"
                + " /dev/shm.", "mount -o remount,huge=within_size /dev/shm")
            : Finding.ok(NAME, seen);
    }

    /** Of {@code always [madvise] never} the one in brackets. */
    private static String chosen(String line) {
        int begin = line.indexOf('[');
        int end = line.indexOf(']');
        return begin < 0 || end < begin ? "" : line.substring(begin + 1, end);
    }
}
