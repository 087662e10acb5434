package org.jfabric.info;

import java.util.Arrays;
import org.jfabric.ffi.LinuxErrno;

/**
 * Fabric errno values, without the {@code FI_} prefix.
 *
 * <p>Use: {@code queue.read(buffer, 0, 16) == -FabricErrno.EAGAIN}.
 *
 * <p>Data-path calls return the negative value, completion entries and {@link FabricException#errno()} carry the
 * positive one. Values below 256 are Linux errno numbers, those from 256 are fixed by libfabric. Source: fi_errno(3);
 * codes of libfabric 1.18. Constants and pure functions; any thread.
 */
public final class FabricErrno {
    /** Value 0. Success; no action is needed. */
    public static final int SUCCESS = 0;

    /**
     * Value 1. Not permitted: the operation needs a privilege that this process lacks; ask the administrator of the
     * host.
     */
    public static final int EPERM = 1;

    /**
     * Value 2. No such entity: the named file, directory or service does not exist; check the name, and that its
     * owner is running.
     */
    public static final int ENOENT = 2;

    /**
     * Value 4. Interrupted: a signal or thread interrupt ended the call early; the caller decides whether to call
     * again.
     */
    public static final int EINTR = 4;

    /**
     * Value 5. Input or output error: the operating system or a device failed, or the peer sent what does not belong to
     * the protocol; provErrno and the driver's error log (fabric errors) say which, and the administrator reads them.
     */
    public static final int EIO = 5;

    /** Value 7. Argument list too long: the caller passed more elements than allowed; split the request. */
    public static final int E2BIG = 7;

    /**
     * Value 9. Bad descriptor: the caller used a descriptor that is closed or never was open; correct the program.
     */
    public static final int EBADF = 9;

    /**
     * Value 11. Try again: nothing is available, or no resources are free now; the caller reads its completion
     * queues and calls again.
     */
    public static final int EAGAIN = 11;

    /** Value 11, the same as {@link #EAGAIN} on Linux. */
    public static final int EWOULDBLOCK = EAGAIN;

    /**
     * Value 12. Out of memory: the caller frees memory or asks for smaller queues, or the administrator raises the
     * limit.
     */
    public static final int ENOMEM = 12;

    /**
     * Value 13. Access denied: owner or mode of a file, or the rights of a memory region, forbid it; correct the
     * rights.
     */
    public static final int EACCES = 13;

    /** Value 14. Bad address: the caller passed an address outside of its memory; correct the program. */
    public static final int EFAULT = 14;

    /** Value 16. Resource in use: other objects still refer to this one; the caller closes those first. */
    public static final int EBUSY = 16;

    /**
     * Value 19. Gone: the driver has ended, or the device is missing or was removed; the caller connects to a running
     * driver, or chooses another link.
     */
    public static final int ENODEV = 19;

    /**
     * Value 22. Invalid argument: the caller passed a value outside of the documented range; correct the call.
     */
    public static final int EINVAL = 22;

    /**
     * Value 24. Too many open files: the caller closes some, or the administrator raises the limit (ulimit -n).
     */
    public static final int EMFILE = 24;

    /** Value 28. No space: the file system or a fixed table is full; free space or ask for less. */
    public static final int ENOSPC = 28;

    /**
     * Value 38. Not implemented: this link or platform does not have the function; the caller chooses another link
     * or way.
     */
    public static final int ENOSYS = 38;

    /** Value 42. No message of the desired type: the peek found no match; the caller peeks again later. */
    public static final int ENOMSG = 42;

    /**
     * Value 61. No data: discovery found no match for the hints; the caller relaxes the hints, the verdicts name
     * which ones.
     */
    public static final int ENODATA = 61;

    /**
     * Value 75. Value too large: a result does not fit its field; the caller uses a wider form or a smaller
     * request.
     */
    public static final int EOVERFLOW = 75;

    /**
     * Value 90. Message too long: the size exceeds a limit of the endpoint; the caller sends less or raises the
     * limit.
     */
    public static final int EMSGSIZE = 90;

    /**
     * Value 92. Option not available: the endpoint does not have this option, or not in this direction; the caller
     * does without.
     */
    public static final int ENOPROTOOPT = 92;

    /**
     * Value 95. Operation not supported: the link or device cannot do it; the caller does without or chooses
     * another link.
     */
    public static final int EOPNOTSUPP = 95;

    /**
     * Value 98. Address in use: another endpoint or process holds the address or name; choose another or close the
     * holder.
     */
    public static final int EADDRINUSE = 98;

    /**
     * Value 99. Address not available: the source is not in the address vector, the data is good; the caller
     * inserts the raw address from the error data.
     */
    public static final int EADDRNOTAVAIL = 99;

    /** Value 100. Network down: the local interface is not up; the administrator brings it up. */
    public static final int ENETDOWN = 100;

    /** Value 101. Network unreachable: no route leads to the network; the administrator checks routes. */
    public static final int ENETUNREACH = 101;

    /** Value 103. Connection aborted: the local side gave the connection up; the caller connects again. */
    public static final int ECONNABORTED = 103;

    /**
     * Value 104. Connection reset: the peer ended or died; the caller waits for it to come back and connects again.
     */
    public static final int ECONNRESET = 104;

    /**
     * Value 105. No buffer space: system buffers are exhausted; the caller retries later, or the administrator
     * raises the limit.
     */
    public static final int ENOBUFS = 105;

    /**
     * Value 106. Already connected: the endpoint has a connection; the caller uses it or opens another endpoint.
     */
    public static final int EISCONN = 106;

    /**
     * Value 107. Not connected: the endpoint has no connection yet, or lost it; the caller connects first.
     */
    public static final int ENOTCONN = 107;

    /** Value 108. Endpoint shut down: it cannot transfer any more; the caller opens a new one. */
    public static final int ESHUTDOWN = 108;

    /**
     * Value 110. Timed out: the peer or the driver did not answer in time; check that it runs, or allow more time.
     */
    public static final int ETIMEDOUT = 110;

    /**
     * Value 111. Connection refused: nothing listens at the address, or the peer rejected it; start the peer or
     * correct the address.
     */
    public static final int ECONNREFUSED = 111;

    /** Value 112. Host down: the peer host does not answer; the administrator checks that host. */
    public static final int EHOSTDOWN = 112;

    /**
     * Value 113. No route to host: the network cannot reach the peer host; the administrator checks routes and
     * address.
     */
    public static final int EHOSTUNREACH = 113;

    /**
     * Value 114. Already in progress: the same request was made before and has not finished; the caller waits for
     * it.
     */
    public static final int EALREADY = 114;

    /** Value 115. In progress: the request continues in the background; the caller waits for its event. */
    public static final int EINPROGRESS = 115;

    /**
     * Value 121. Remote input or output error: the peer failed to carry out the operation; see the log of the peer.
     */
    public static final int EREMOTEIO = 121;

    /**
     * Value 125. Operation canceled: the caller or the closing of the endpoint withdrew it; post it again if still
     * wanted.
     */
    public static final int ECANCELED = 125;

    /** Value 129. Key rejected: the peer does not accept the key; both sides must use the same one. */
    public static final int EKEYREJECTED = 129;

    /** Value 256. Unspecified error: no better code exists; see the text and the error log of the driver. */
    public static final int EOTHER = 256;

    /**
     * Value 257. Provided buffer too small: the caller provides the length that was returned and calls again.
     */
    public static final int ETOOSMALL = 257;

    /**
     * Value 258. Not permitted in this state: the object is not enabled yet, enabled already or closed, or its driver
     * has ended; correct the order of calls, or after the driver's end connects again.
     */
    public static final int EOPBADSTATE = 258;

    /**
     * Value 259. Error entry available: the oldest unread entry is an error; the caller takes it with readErr and
     * reads on.
     */
    public static final int EAVAIL = 259;

    /** Value 260. Flags not supported: a flag is unknown here or not offered; the caller leaves it out. */
    public static final int EBADFLAGS = 260;

    /** Value 261. Event queue missing: the caller binds an event queue before this call. */
    public static final int ENOEQ = 261;

    /**
     * Value 262. Wrong resource domain: objects of different domains were combined; the caller opens both in one
     * domain.
     */
    public static final int EDOMAIN = 262;

    /**
     * Value 263. Completion queue missing: the caller binds a completion queue before enabling the endpoint.
     */
    public static final int ENOCQ = 263;

    /**
     * Value 264. Checksum error: data was damaged on the way; the administrator checks the network, the caller
     * sends again.
     */
    public static final int ECRC = 264;

    /**
     * Value 265. Message truncated: the receive buffer was too small, olen bytes were dropped; the receiver posts
     * larger buffers.
     */
    public static final int ETRUNC = 265;

    /** Value 266. Key not available: no registered memory has this key; the peer exchanges a current key. */
    public static final int ENOKEY = 266;

    /** Value 267. Address vector missing: the caller binds an address vector before enabling the endpoint. */
    public static final int ENOAV = 267;

    /**
     * Value 268. Queue overrun: completions were lost because the queue was full; the caller opens a larger one and
     * reads it more often.
     */
    public static final int EOVERRUN = 268;

    /**
     * Value 269. Receiver not ready: the peer has no receive buffer; the receiver posts more, the sender retries
     * later.
     */
    public static final int ENORX = 269;

    /** Value 270. Memory registration limit reached: the caller closes regions that it no longer needs. */
    public static final int ENOMR = 270;

    /** Value 271. Address blocked by a firewall: the administrator opens the ports between the hosts. */
    public static final int EFIREWALLADDR = 271;

    private static final int FIRST_FABRIC_ERRNO = 256;
    private static final int LAST_ERRNO = EFIREWALLADDR;
    private static final String[] NAMES = new String[LAST_ERRNO + 1];
    private static final String[] DESCRIPTIONS = new String[LAST_ERRNO + 1];

    static {
        defineHostCodes();
        defineAddressCodes();
        definePeerCodes();
        defineFabricCodes();
    }

    private FabricErrno() {
    }

    /**
     * The symbolic name of a code, as the libfabric pages print it.
     *
     * @param errno positive or negative code.
     * @return for instance {@code FI_EAGAIN}; for a code that is not in the table the name that Linux has for it, such
     *     as {@code ENOTDIR}, or a text with its number.
     */
    public static String name(int errno) {
        int code = normalize(errno);
        if (code >= 0 && code <= LAST_ERRNO && NAMES[code] != null) {
            return NAMES[code];
        }
        String host = LinuxErrno.name(code);
        return host != null ? host
            : (code >= 0 && code < FIRST_FABRIC_ERRNO ? "host errno " : "unknown fabric errno ") + code;
    }

    /**
     * One sentence that gives the meaning of a code and the action to take.
     *
     * @param errno positive or negative code.
     * @return the sentence, never empty, distinct for every code of the table.
     */
    public static String describe(int errno) {
        int code = normalize(errno);
        if (code >= 0 && code <= LAST_ERRNO && DESCRIPTIONS[code] != null) {
            return DESCRIPTIONS[code];
        }
        if (code >= 0 && code < FIRST_FABRIC_ERRNO) {
            return "Error of the operating system, " + LinuxErrno.describe(code)
                + ": the text says to what it happened; errno(3) explains it.";
        }
        return "Error " + code + " is not in the table of this version:"
            + " the other side is newer, or the value is damaged.";
    }

    /**
     * All codes of the table in ascending order, for tools that print it.
     *
     * @return a new array of positive codes, success included.
     */
    public static int[] codes() {
        int[] codes = new int[NAMES.length];
        int count = 0;
        for (int code = 0; code < NAMES.length; code++) {
            if (NAMES[code] != null) {
                codes[count++] = code;
            }
        }
        return Arrays.copyOf(codes, count);
    }

    /** Positive form of a code; the smallest int has none and stays negative, so that it is reported as unknown. */
    private static int normalize(int errno) {
        return errno < 0 ? -errno : errno;
    }

    private static void define(int code, String name, String description) {
        NAMES[code] = name;
        DESCRIPTIONS[code] = description;
    }

    private static void defineHostCodes() {
        define(SUCCESS, "FI_SUCCESS", "Success; no action is needed.");
        define(EPERM, "FI_EPERM",
            "Not permitted: the operation needs a privilege that this process lacks; ask the "
                + "administrator of the host.");
        define(ENOENT, "FI_ENOENT",
            "No such entity: the named file, directory or service does not exist; check the name, and "
                + "that its owner is running.");
        define(EINTR, "FI_EINTR",
            "Interrupted: a signal or thread interrupt ended the call early; the caller decides whether "
                + "to call again.");
        define(EIO, "FI_EIO",
            "Input or output error: the operating system or a device failed, or the peer sent what does not "
                + "belong to the protocol; the driver's error log (fabric errors) says which.");
        define(E2BIG, "FI_E2BIG",
            "Argument list too long: the caller passed more elements than allowed; split the request.");
        define(EBADF, "FI_EBADF",
            "Bad descriptor: the caller used a descriptor that is closed or never was open; correct the "
                + "program.");
        define(EAGAIN, "FI_EAGAIN",
            "Try again: nothing is available, or no resources are free now; the caller reads its "
                + "completion queues and calls again.");
        define(ENOMEM, "FI_ENOMEM",
            "Out of memory: the caller frees memory or asks for smaller queues, or the administrator "
                + "raises the limit.");
        define(EACCES, "FI_EACCES",
            "Access denied: owner or mode of a file, or the rights of a memory region, forbid it; correct "
                + "the rights.");
        define(EFAULT, "FI_EFAULT",
            "Bad address: the caller passed an address outside of its memory; correct the program.");
        define(EBUSY, "FI_EBUSY",
            "Resource in use: other objects still refer to this one; the caller closes those first.");
        define(ENODEV, "FI_ENODEV",
            "Gone: the driver has ended, or the device is missing or was removed; connect to a running driver, "
                + "or choose another link.");
        define(EINVAL, "FI_EINVAL",
            "Invalid argument: the caller passed a value outside of the documented range; correct the "
                + "call.");
        define(EMFILE, "FI_EMFILE",
            "Too many open files: the caller closes some, or the administrator raises the limit (ulimit "
                + "-n).");
        define(ENOSPC, "FI_ENOSPC", "No space: the file system or a fixed table is full; free space or ask for less.");
        define(ENOSYS, "FI_ENOSYS",
            "Not implemented: this link or platform does not have the function; the caller chooses "
                + "another link or way.");
        define(ENOMSG, "FI_ENOMSG",
            "No message of the desired type: the peek found no match; the caller peeks again later.");
        define(ENODATA, "FI_ENODATA",
            "No data: discovery found no match for the hints; the caller relaxes the hints, the verdicts "
                + "name which ones.");
    }

    private static void defineAddressCodes() {
        define(EOVERFLOW, "FI_EOVERFLOW",
            "Value too large: a result does not fit its field; the caller uses a wider form or a smaller "
                + "request.");
        define(EMSGSIZE, "FI_EMSGSIZE",
            "Message too long: the size exceeds a limit of the endpoint; the caller sends less or raises "
                + "the limit.");
        define(ENOPROTOOPT, "FI_ENOPROTOOPT",
            "Option not available: the endpoint does not have this option, or not in this direction; the "
                + "caller does without.");
        define(EOPNOTSUPP, "FI_EOPNOTSUPP",
            "Operation not supported: the link or device cannot do it; the caller does without or chooses "
                + "another link.");
        define(EADDRINUSE, "FI_EADDRINUSE",
            "Address in use: another endpoint or process holds the address or name; choose another or "
                + "close the holder.");
        define(EADDRNOTAVAIL, "FI_EADDRNOTAVAIL",
            "Address not available: the source is not in the address vector, the data is good; the caller "
                + "inserts the raw address from the error data.");
        define(ENETDOWN, "FI_ENETDOWN", "Network down: the local interface is not up; the administrator brings it up.");
        define(ENETUNREACH, "FI_ENETUNREACH",
            "Network unreachable: no route leads to the network; the administrator checks routes.");
        define(ECONNABORTED, "FI_ECONNABORTED",
            "Connection aborted: the local side gave the connection up; the caller connects again.");
    }

    private static void definePeerCodes() {
        define(ECONNRESET, "FI_ECONNRESET",
            "Connection reset: the peer ended or died; the caller waits for it to come back and connects "
                + "again.");
        define(ENOBUFS, "FI_ENOBUFS",
            "No buffer space: system buffers are exhausted; the caller retries later, or the "
                + "administrator raises the limit.");
        define(EISCONN, "FI_EISCONN",
            "Already connected: the endpoint has a connection; the caller uses it or opens another "
                + "endpoint.");
        define(ENOTCONN, "FI_ENOTCONN",
            "Not connected: the endpoint has no connection yet, or lost it; the caller connects first.");
        define(ESHUTDOWN, "FI_ESHUTDOWN",
            "Endpoint shut down: it cannot transfer any more; the caller opens a new one.");
        define(ETIMEDOUT, "FI_ETIMEDOUT",
            "Timed out: the peer or the driver did not answer in time; check that it runs, or allow more "
                + "time.");
        define(ECONNREFUSED, "FI_ECONNREFUSED",
            "Connection refused: nothing listens at the address, or the peer rejected it; start the peer "
                + "or correct the address.");
        define(EHOSTDOWN, "FI_EHOSTDOWN",
            "Host down: the peer host does not answer; the administrator checks that host.");
        define(EHOSTUNREACH, "FI_EHOSTUNREACH",
            "No route to host: the network cannot reach the peer host; the administrator checks routes "
                + "and address.");
        define(EALREADY, "FI_EALREADY",
            "Already in progress: the same request was made before and has not finished; the caller waits "
                + "for it.");
        define(EINPROGRESS, "FI_EINPROGRESS",
            "In progress: the request continues in the background; the caller waits for its event.");
        define(EREMOTEIO, "FI_EREMOTEIO",
            "Remote input or output error: the peer failed to carry out the operation; see the log of the "
                + "peer.");
        define(ECANCELED, "FI_ECANCELED",
            "Operation canceled: the caller or the closing of the endpoint withdrew it; post it again if "
                + "still wanted.");
        define(EKEYREJECTED, "FI_EKEYREJECTED",
            "Key rejected: the peer does not accept the key; both sides must use the same one.");
    }

    private static void defineFabricCodes() {
        define(EOTHER, "FI_EOTHER",
            "Unspecified error: no better code exists; see the text and the error log of the driver.");
        define(ETOOSMALL, "FI_ETOOSMALL",
            "Provided buffer too small: the caller provides the length that was returned and calls again.");
        define(EOPBADSTATE, "FI_EOPBADSTATE",
            "Not permitted in this state: the object is not enabled yet, enabled already or closed, or its "
                + "driver has ended; correct the order of calls, or after the driver's end connect again.");
        define(EAVAIL, "FI_EAVAIL",
            "Error entry available: the oldest unread entry is an error; the caller takes it with readErr "
                + "and reads on.");
        define(EBADFLAGS, "FI_EBADFLAGS",
            "Flags not supported: a flag is unknown here or not offered; the caller leaves it out.");
        define(ENOEQ, "FI_ENOEQ", "Event queue missing: the caller binds an event queue before this call.");
        define(EDOMAIN, "FI_EDOMAIN",
            "Wrong resource domain: objects of different domains were combined; the caller opens both in "
                + "one domain.");
        define(ENOCQ, "FI_ENOCQ",
            "Completion queue missing: the caller binds a completion queue before enabling the endpoint.");
        define(ECRC, "FI_ECRC",
            "Checksum error: data was damaged on the way; the administrator checks the network, the "
                + "caller sends again.");
        define(ETRUNC, "FI_ETRUNC",
            "Message truncated: the receive buffer was too small, olen bytes were dropped; the receiver "
                + "posts larger buffers.");
        define(ENOKEY, "FI_ENOKEY",
            "Key not available: no registered memory has this key; the peer exchanges a current key.");
        define(ENOAV, "FI_ENOAV",
            "Address vector missing: the caller binds an address vector before enabling the endpoint.");
        define(EOVERRUN, "FI_EOVERRUN",
            "Queue overrun: completions were lost because the queue was full; the caller opens a larger "
                + "one and reads it more often.");
        define(ENORX, "FI_ENORX",
            "Receiver not ready: the peer has no receive buffer; the receiver posts more, the sender "
                + "retries later.");
        define(ENOMR, "FI_ENOMR",
            "Memory registration limit reached: the caller closes regions that it no longer needs.");
        define(EFIREWALLADDR, "FI_EFIREWALLADDR",
            "Address blocked by a firewall: the administrator opens the ports between the hosts.");
    }
}
