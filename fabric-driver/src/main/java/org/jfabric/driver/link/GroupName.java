package org.jfabric.driver.link;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The name that an endpoint joins a group by, on a link whose groups have names and no addresses of a network.
 *
 * @param isLossy whether its writer does not wait for readers; only the writer says so, with {@code ?lossy} behind the
 *                address.
 */
public record GroupName(String address, boolean isLossy) {
    private static final String LOSSY = "lossy";

    /**
     * Takes a name apart.
     *
     * @return address and option; whether the address is one is not checked.
     * @throws FabricException {@code FI_EINVAL} for any other option.
     */
    public static GroupName parse(String text) {
        int mark = text.indexOf('?');
        if (mark < 0) {
            return new GroupName(text, false);
        }
        String option = text.substring(mark + 1);
        if (!option.equals(LOSSY)) {
            throw new FabricException(FabricErrno.EINVAL, "the option of group " + text + " is " + option,
                "Give no option, or " + LOSSY + '.');
        }
        return new GroupName(text.substring(0, mark), true);
    }
}
