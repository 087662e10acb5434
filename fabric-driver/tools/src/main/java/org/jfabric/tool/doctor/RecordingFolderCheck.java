package org.jfabric.tool.doctor;

import java.util.Locale;
import java.util.Set;

/** What the file system of a folder for logs means for them. */
final class RecordingFolderCheck implements Check {
    private static final String NAME = "recording";
    private static final Set<String> MEMORY = Set.of("tmpfs", "ramfs");
    private static final Set<String> OF_HOSTS = Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph",
        "lustre", "glusterfs", "afs");

    @Override
    public Finding examine(Host host) {
        RecordingFolder folder = host.recording();
        if (folder == null) {
            return Finding.ok(NAME, "no folder was given; --log-folder examines one for logs");
        }
        String[] mount = host.mount(folder.path());
        String seen = String.format(Locale.ROOT, "%d MiB free in %s on %s at %s%s", folder.freeBytes() >> 20,
            folder.path(), mount[1].isEmpty() ? "an unknown file system" : mount[1], mount[0],
            folder.syncNs() == 0 ? "" : String.format(Locale.ROOT, ", a sync takes %.1f ms", folder.syncNs() / 1e6));
        if (folder.problem() != null) {
            return Finding.error(NAME, seen, "No log can be written here: " + folder.problem() + ".");
        }
        if (folder.freeBytes() < RecordingFolder.SEGMENT) {
            return Finding.error(NAME, seen, "There is no room for a segment of " + (RecordingFolder.SEGMENT >> 20)
                + " MiB: make room, or choose shorter segments or another file system.");
        }
        String warning = warning(mount[1], mount[2]);
        if (warning != null) {
            return Finding.warning(NAME, seen, warning);
        }
        if (folder.freeBytes() < 2 * RecordingFolder.SEGMENT) {
            return Finding.warning(NAME, seen, "There is room for one segment of "
                + (RecordingFolder.SEGMENT >> 20) + " MiB; a log needs two, as the next one is made before the oldest"
                + " is deleted.");
        }
        return folder.reserves() ? Finding.ok(NAME, seen)
            : Finding.note(NAME, seen, "The file system has no fallocate: each new segment is written once to reserve"
                + " its blocks, which delays the recorder.");
    }

    /** What can be lost on such a file system although it was synced, or null. */
    private static String warning(String type, String options) {
        if (MEMORY.contains(type)) {
            return "The files are in memory: a log survives its writer, but no power cut and no restart of the host."
                + " Choose a file system on a disk.";
        }
        if (type.equals("overlay")) {
            return "This is a layer of a container: what is synced survives a power cut, but is deleted with the"
                + " container. Mount a volume for logs.";
        }
        if (OF_HOSTS.contains(type) || type.startsWith("fuse")) {
            return "The disk belongs to another host or program: after a power cut there is what that one keeps of what"
                + " was synced, and while it does not answer the recorder waits. Choose a disk of this host.";
        }
        return options.contains("nobarrier") || options.contains("barrier=0")
            ? "The file system is mounted without barriers: a power cut can lose what was synced, unless the disk's"
                + " cache has a battery. Mount it without this option." : null;
    }
}
