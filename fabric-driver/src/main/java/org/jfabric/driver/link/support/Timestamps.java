package org.jfabric.driver.link.support;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import org.jfabric.driver.config.Option;
import org.jfabric.driver.config.Sockets;
import org.jfabric.ffi.CardClock;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.TimestampClock;

/**
 * Times of arrival and departure, of links whose sockets have them: what is asked for, and what stands against it.
 *
 * <p>Stateless; any thread.
 */
public final class Timestamps {
    /** The capabilities that ask for times. */
    public static final long CAPS = Flags.TIMESTAMP | Flags.CARD_CLOCK;

    private Timestamps() {
    }

    /** Whose clock times of arrival are asked of. Returns null if none are asked for. */
    public static TimestampClock arrivals(Info wanted) {
        return clock(wanted, wanted.rxAttr().caps());
    }

    /** Whose clock times of departure are asked of. Returns null if none are asked for. */
    public static TimestampClock departures(Info wanted) {
        return clock(wanted, wanted.txAttr().caps());
    }

    private static TimestampClock clock(Info wanted, long ofSide) {
        return ofSide == 0 || (ofSide & Flags.TIMESTAMP) != 0 ? TimestampClock.of(wanted.caps()) : null;
    }

    /**
     * What stands against times on sockets.
     *
     * @param sockets that are used.
     * @param option  by which they were chosen.
     * @return a reason, or none.
     */
    public static List<Reason> obstacles(Info wanted, Sockets sockets, Option<?> option) {
        if ((wanted.caps() & Flags.TIMESTAMP) == 0 || sockets == Sockets.NATIVE) {
            return List.of();
        }
        return List.of(new Reason("times of arrival", option.name() + '=' + sockets, Sockets.NATIVE.name(),
            "Set the option to NATIVE: the sockets of the JDK have no times; or ask without TIMESTAMP"));
    }

    /**
     * What stands against times of the card's clock.
     *
     * @param local address of the endpoint.
     * @return a reason, or none.
     */
    public static List<Reason> obstacles(Info wanted, InetAddress local) {
        if (TimestampClock.of(wanted.caps()) != TimestampClock.CARD) {
            return List.of();
        }
        String name = interfaceName(local);
        if (name == null) {
            return List.of(new Reason("clock of the card", "the address " + local.getHostAddress(),
                "the address of an interface", "Name an address of a card in the source; or ask without CARD_CLOCK"));
        }
        return refusals(name, departures(wanted) != null);
    }

    /** What stands against times of the clock of an interface's card. */
    private static List<Reason> refusals(String name, boolean hasDepartures) {
        CardClock card = CardClock.of(name);
        if (!card.hasArrivals() || hasDepartures && !card.hasDepartures()) {
            return List.of(new Reason("clock of the card", card.toString(),
                "raw hardware stamps of " + (hasDepartures ? "all packets received and sent" : "all received packets"),
                "Ask without CARD_CLOCK: the system's clock has times for every card; or use another interface"));
        }
        if (!card.isOn(hasDepartures)) {
            return List.of(new Reason("clock of the card", card.toString(), "a card that stamps all packets",
                "Have the card do so: hwstamp_ctl -i " + name + " -r 1" + (hasDepartures ? " -t 1" : "")
                    + " (linuxptp), as root; or ask without CARD_CLOCK"));
        }
        return List.of();
    }

    private static String interfaceName(InetAddress local) {
        try {
            NetworkInterface found = local.isAnyLocalAddress() ? null : NetworkInterface.getByInetAddress(local);
            return found == null ? null : found.getName();
        } catch (SocketException gone) {
            return null;
        }
    }

    /** Checks the result of asking a socket for times. */
    public static void check(int result, Object name) {
        if (result < 0) {
            throw new FabricException(FabricErrno.ENODATA, "the system refuses times for the socket " + name + ": "
                + FabricErrno.name(-result), "Ask without TIMESTAMP.");
        }
    }
}
