package org.jfabric.info;

import java.util.List;
import java.util.Locale;
import org.jfabric.Endpoint;

/**
 * How a peer is reached, and why that way: the answer of {@link Endpoint#path(long)}.
 *
 * <p>Use: {@code endpoint.path(peer).linkName()}.
 *
 * @param linkName      name of the link, for instance {@code shm}; empty if none reaches the peer.
 * @param localAddress  address of the endpoint, as peers see it.
 * @param remoteAddress address of the peer.
 * @param state         of the way.
 * @param verdicts      one for each link of the driver: the one that is used, and why the others are not. Unmodifiable.
 */
public record PeerPath(
    String linkName, String localAddress, String remoteAddress, State state, List<Verdict> verdicts) {
    /** Whether messages can pass. */
    public enum State {
        /** Nothing was sent yet, or the peer was lost: the next send begins anew. */
        DOWN,
        /** It is being made; sends wait for it. */
        CONNECTING,
        /** Messages pass. */
        UP
    }

    /** Takes an unmodifiable copy of the verdicts. */
    public PeerPath {
        Codes.required(linkName, "linkName");
        Codes.required(localAddress, "localAddress");
        Codes.required(remoteAddress, "remoteAddress");
        Codes.required(state, "state");
        verdicts = List.copyOf(Codes.required(verdicts, "verdicts"));
    }

    /**
     * The path and all verdicts as text for people.
     *
     * @return a line for the path and one for each link.
     */
    public String explain() {
        StringBuilder text = new StringBuilder(toString()).append(System.lineSeparator());
        for (Verdict verdict : verdicts) {
            text.append("  ").append(verdict).append(System.lineSeparator());
        }
        return text.toString();
    }

    @Override
    public String toString() {
        return localAddress + " to " + remoteAddress
            + (linkName.isEmpty() ? " by no link" : " by " + linkName + ", "
                + (state == State.DOWN ? "not connected yet or any more" : state.name().toLowerCase(Locale.ROOT)));
    }
}
