package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Numbers of the users and groups of this system, from the same sources as for other programs (nsswitch.conf).
 *
 * <p>Control path: a source may be a server. Any thread.
 */
public final class Accounts {
    private static final long MAX_ID = 0xFFFF_FFFEL;
    private static final int FIRST_BUFFER_BYTES = 16 * 1024;
    private static final int LAST_BUFFER_BYTES = 16 * 1024 * 1024;
    /** Of {@code pw_uid} and of {@code gr_gid}: behind two pointers. */
    private static final long ID_OFFSET = 16;
    private static final long ENTRY_BYTES = 64;

    private static final Downcall GETPWNAM = Downcall.of("getpwnam_r", 5);
    private static final Downcall GETGRNAM = Downcall.of("getgrnam_r", 5);

    private Accounts() {
    }

    /**
     * The number of a user.
     *
     * @param nameOrNumber name, or decimal number, which need not belong to a name.
     * @return user id, 0 to 2^32 - 2.
     * @throws NativeCallException ENOENT if there is no user of that name or the number is too large, or what else the
     *     system answers.
     */
    public static long userId(String nameOrNumber) {
        return id(GETPWNAM, "getpwnam_r", "user", nameOrNumber);
    }

    /**
     * The number of a group.
     *
     * @param nameOrNumber name, or decimal number, which need not belong to a name.
     * @return group id, 0 to 2^32 - 2.
     * @throws NativeCallException as {@link #userId}.
     */
    public static long groupId(String nameOrNumber) {
        return id(GETGRNAM, "getgrnam_r", "group", nameOrNumber);
    }

    private static long id(Downcall call, String callName, String kind, String name) {
        if (!name.isEmpty() && name.chars().allMatch(each -> each >= '0' && each <= '9')) {
            // longer ones are no number of 32 bits either
            long number = Long.parseLong(name.substring(0, Math.min(name.length(), 18)));
            if (number > MAX_ID) {
                throw new NativeCallException(callName, LinuxErrno.ENOENT,
                    kind + " " + name + ", the greatest number is " + MAX_ID);
            }
            return number;
        }
        for (int bufferBytes = FIRST_BUFFER_BYTES;; bufferBytes *= 2) {
            int errno = 0;
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment entry = arena.allocate(ENTRY_BYTES, Long.BYTES);
                MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
                MemorySegment buffer = arena.allocate(bufferBytes);
                // returns the errno instead of setting it
                errno = (int) call.call(CallState.current(), arena.allocateFrom(name).address(), entry.address(),
                    buffer.address(), bufferBytes, result.address());
                if (errno == 0 && result.get(ValueLayout.JAVA_LONG, 0) != 0) {
                    return Integer.toUnsignedLong(entry.get(ValueLayout.JAVA_INT, ID_OFFSET));
                }
            }
            if (errno != LinuxErrno.EINTR && (errno != LinuxErrno.ERANGE || bufferBytes >= LAST_BUFFER_BYTES)) {
                throw new NativeCallException(callName, errno == 0 ? LinuxErrno.ENOENT : errno,
                    "there is no " + kind + " \"" + name + "\" on this system");
            }
        }
    }
}
