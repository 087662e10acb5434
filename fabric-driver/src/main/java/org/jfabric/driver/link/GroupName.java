package org.jfabric.driver.link;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogOptions;

/**
 * The name that an endpoint joins a group by, on a link whose groups have names and no addresses of a network. Only the
 * writer has options, behind the address: {@code ?lossy}, {@code ?net=HOST:PORT}, {@code ?log=FOLDER} with those of
 * {@link LogOptions}, or several of them.
 *
 * @param isLossy whether its writer does not wait for readers.
 * @param network where its writer's driver sends it to other hosts from, {@code host:port}; null if it does not.
 * @param log     where it is recorded, or null.
 * @param options of the log.
 */
public record GroupName(String address, boolean isLossy, String network, Path log, LogOptions options) {
    private static final String LOSSY = "lossy";
    private static final String LOG = "log=";
    private static final String NETWORK = "net=";

    /**
     * Takes a name apart.
     *
     * @return address and options; whether the address is one is not checked.
     * @throws FabricException {@code FI_EINVAL} for any other option, or an impossible value.
     */
    public static GroupName parse(String text) {
        int mark = text.indexOf('?');
        LogOptions options = new LogOptions();
        if (mark < 0) {
            return new GroupName(text, false, null, null, options);
        }
        boolean isLossy = false;
        String network = null;
        Path log = null;
        for (String option : text.substring(mark + 1).split("&", -1)) {
            int equals = option.indexOf('=');
            if (option.equals(LOSSY)) {
                isLossy = true;
            } else if (option.startsWith(NETWORK) && network == null) {
                network = option.substring(NETWORK.length());
            } else if (option.startsWith(LOG)) {
                log = folder(option.substring(LOG.length()));
            } else if (log != null && equals > 0) {
                options.set(option.substring(0, equals), option.substring(equals + 1));
            } else {
                throw new FabricException(FabricErrno.EINVAL, "the option of group " + text + " is " + option,
                    "Give no option, " + LOSSY + ", " + NETWORK + "HOST:PORT, or " + LOG
                        + "FOLDER and then those of the log.");
            }
        }
        return new GroupName(text.substring(0, mark), isLossy, network, log, options);
    }

    /** The name of a group that is written on another host. */
    public static GroupName ofStream(String address, boolean isLossy) {
        return new GroupName(address, isLossy, null, null, new LogOptions());
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
