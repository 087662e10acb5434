package org.jfabric.driver.link;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.JoinAttr;
import org.jfabric.stream.LogOptions;

/**
 * The name that an endpoint joins a group by, on a link whose groups have names and no addresses of a network. Only the
 * writer has options, behind the address: {@code ?lossy}, {@code ?net=HOST:PORT} with {@code quorum=HOSTS} or
 * {@code required=DRIVER,DRIVER} and {@code rate=BYTES}, {@code ?log=FOLDER} with those of {@link LogOptions}, or
 * several of them.
 *
 * @param isLossy whether its writer does not wait for readers.
 * @param network where its writer's driver sends it to other hosts from, {@code host:port}, or to which multicast
 *                group; two with a semicolon between them; null if it does not.
 * @param quorum  number of other hosts that the writer waits for; 0 for all, or those that are required.
 * @param required names of their drivers that the writer waits for alone; empty for all.
 * @param bytesPerSecond limit of what is sent to other hosts; 0 for none.
 * @param log     where it is recorded, or null.
 * @param options of the log.
 */
public record GroupName(
    String address, boolean isLossy, String network, int quorum, List<String> required, long bytesPerSecond, Path log,
    LogOptions options) {

    private static final String LOSSY = "lossy";
    private static final String LOG = "log=";
    private static final String NETWORK = "net=";
    private static final String QUORUM = "quorum=";
    private static final String REQUIRED = "required=";
    private static final String RATE = "rate=";
    private static final int MOST_HOSTS = 256;

    /**
     * Takes a name apart.
     *
     * @return address and options; whether the address is one is not checked.
     * @throws FabricException {@code FI_EINVAL} for any other option, or an impossible value.
     */
    public static GroupName parse(String text) {
        // what a reader asks of a stream is a part of its address: it has a ring of its own
        int mark = text.startsWith(JoinAttr.STREAM_SCHEME) ? -1 : text.indexOf('?');
        LogOptions options = new LogOptions();
        if (mark < 0) {
            return new GroupName(text, false, null, 0, List.of(), 0, null, options);
        }
        boolean isLossy = false;
        String network = null;
        int quorum = 0;
        List<String> required = List.of();
        long bytesPerSecond = 0;
        Path log = null;
        for (String option : text.substring(mark + 1).split("&", -1)) {
            int equals = option.indexOf('=');
            if (option.equals(LOSSY)) {
                isLossy = true;
            } else if (option.startsWith(NETWORK) && network == null) {
                network = option.substring(NETWORK.length());
            } else if (option.startsWith(QUORUM) && log == null) {
                quorum = (int) number(text, option, QUORUM, MOST_HOSTS);
            } else if (option.startsWith(REQUIRED) && log == null) {
                required = List.of(option.substring(REQUIRED.length()).split(",", -1));
            } else if (option.startsWith(RATE) && log == null) {
                bytesPerSecond = number(text, option, RATE, Long.MAX_VALUE);
            } else if (option.startsWith(LOG)) {
                log = folder(option.substring(LOG.length()));
            } else if (log != null && equals > 0) {
                options.set(option.substring(0, equals), option.substring(equals + 1));
            } else {
                throw new FabricException(FabricErrno.EINVAL, "the option of group " + text + " is " + option,
                    "Give no option, " + LOSSY + ", " + NETWORK + "HOST:PORT with " + QUORUM + "HOSTS, " + REQUIRED
                        + "DRIVERS or " + RATE + "BYTES, or " + LOG + "FOLDER and then those of the log.");
            }
        }
        GroupName name = new GroupName(
            text.substring(0, mark), isLossy, network, quorum, required, bytesPerSecond, log, options);
        name.check(text);
        return name;
    }

    /** Refuses policies for other hosts that contradict each other, or have no host. */
    private void check(String text) {
        boolean isPartial = quorum != 0 || !required.isEmpty();
        if (network == null && (isPartial || bytesPerSecond != 0)) {
            throw new FabricException(FabricErrno.EINVAL, "group " + text + " stays on its host, and has a policy for"
                + " others", "Give it " + NETWORK + "HOST:PORT, too: readers of its own host are always waited for.");
        }
        if (quorum != 0 && !required.isEmpty() || (isLossy || log != null) && isPartial) {
            throw new FabricException(FabricErrno.EINVAL, "group " + text + " is to wait for different hosts",
                "Give one of " + LOSSY + ", " + QUORUM + "HOSTS, " + REQUIRED + "DRIVERS and " + LOG + "FOLDER: a group"
                    + " that is recorded waits for no host.");
        }
        for (String driver : required) {
            if (driver.isEmpty() || driver.indexOf('/') >= 0) {
                throw new FabricException(FabricErrno.EINVAL, "group " + text + " is to wait for the driver " + driver,
                    "Give names of drivers, with commas between them.");
            }
        }
    }

    private static long number(String text, String option, String key, long most) {
        try {
            long value = Long.parseLong(option.substring(key.length()));
            if (value > 0 && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // refused below, as a number that cannot be
        }
        throw new FabricException(FabricErrno.EINVAL, "the option of group " + text + " is " + option,
            "Give " + key + " a number from 1 to " + most + ".");
    }

    /** The name of a group that is written on another host. */
    public static GroupName ofStream(String address, boolean isLossy) {
        return new GroupName(address, isLossy, null, 0, List.of(), 0, null, new LogOptions());
    }

    private static Path folder(String text) {
        try {
            Path folder = Path.of(URLDecoder.decode(text, StandardCharsets.UTF_8));
            if (folder.isAbsolute()) {
                return folder;
            }
        } catch (IllegalArgumentException e) {
            throw new FabricException(FabricErrno.EINVAL, "the folder of a log is " + text, "Name one that can be.", e);
        }
        throw new FabricException(FabricErrno.EINVAL, "the folder of a log is " + text,
            "Name it from the root on: the driver has a working directory of its own.");
    }

    /** Where it is recorded, as text; empty without. */
    public String logFolder() {
        return log == null ? "" : log.toString();
    }

    /** Whether it is a writer's. */
    public boolean hasOptions() {
        return isLossy || network != null || log != null;
    }
}
