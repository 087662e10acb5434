package org.jfabric.driver.link;

import org.jfabric.info.SocketName;

/**
 * The address of a socket with the name of its link before it: {@code verbsrxm=fi_sockaddr_in://192.0.2.2:45007}. An
 * endpoint with two links that have socket addresses distinguishes their peers by it. Links themselves never see it.
 *
 * <p>Pure functions; any thread.
 */
public final class MarkedAddress {
    private static final char SIGN = '=';
    private static final String LINK = "[a-z][a-z0-9]{0,31}";

    private MarkedAddress() {
    }

    /** The mark of a link. Returns the text before its addresses. */
    public static String mark(String linkName) {
        return linkName + SIGN;
    }

    /**
     * Whether a text is such an address.
     *
     * @param text any.
     * @return true if a socket address follows the name of a link.
     */
    public static boolean isName(String text) {
        int sign = text.indexOf(SIGN);
        return sign > 0 && text.substring(0, sign).matches(LINK) && SocketName.isName(text.substring(sign + 1));
    }

    /**
     * An address as its link knows it.
     *
     * @param text any address.
     * @return without its mark, if it has one.
     */
    public static String plain(String text) {
        return isName(text) ? text.substring(text.indexOf(SIGN) + 1) : text;
    }

    /**
     * The one text of an address that can be written in several ways.
     *
     * @param text for which {@link #isName} is true.
     */
    public static String canonical(String text) {
        int end = text.indexOf(SIGN) + 1;
        return text.substring(0, end) + SocketName.parse(text.substring(end));
    }
}
