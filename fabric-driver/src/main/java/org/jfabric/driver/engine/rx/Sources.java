package org.jfabric.driver.engine.rx;

import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.engine.peer.Peer;
import org.jfabric.driver.engine.peer.PeerTable;

/**
 * Changes of who is known under which {@code fi_addr}, for what waits to be matched: a message has the source that its
 * sender has now, not the one that it had when the message came (AMB-54).
 *
 * <p>Owner: progress agent.
 */
final class Sources {
    private final Receiver receiver;
    private final PeerTable peers;
    private final boolean directed;
    private final TagMatcher[] matchers;

    Sources(Receiver receiver, PeerTable peers, boolean directed, TagMatcher... matchers) {
        this.receiver = receiver;
        this.peers = peers;
        this.directed = directed;
        this.matchers = matchers;
    }

    /** What a receive accepts; {@link TagMatcher#UNKNOWN_SOURCE} if the address vector has no such place. */
    int find(long srcAddr) {
        if (!directed || srcAddr == FabricAddress.ADDR_UNSPEC) {
            return TagMatcher.ANY_SOURCE;
        }
        return peers.isValid(srcAddr) ? (int) srcAddr : TagMatcher.UNKNOWN_SOURCE;
    }

    /** A peer that was unknown has a place; looks at every message, if receives name sources at all. */
    void learn(Peer peer) {
        if (!directed) {
            return;
        }
        for (TagMatcher matcher : matchers) {
            learn(matcher, matcher.firstUnexpected(), peer);
            learn(matcher, matcher.firstClaimed(), peer);
        }
    }

    private static void learn(TagMatcher matcher, UnexpectedMessage first, Peer peer) {
        for (UnexpectedMessage message = first; message != null; message = matcher.nextUnexpected(message)) {
            // a message can be older than its sender's last place, which made it unknown again when it was removed
            if (((StoredMessage) message).peer == peer && message.source() == TagMatcher.UNKNOWN_SOURCE) {
                matcher.learnSource(message, peer.source());
            }
        }
    }

    /** A place will mean another peer: receives that name it end. */
    void forget(int source) {
        for (TagMatcher matcher : matchers) {
            matcher.forgetSource(source);
        }
        failDirected(source, FabricErrno.ECANCELED);
    }

    /** Ends the posted receives that name a source; one that is unknown has none. */
    void failDirected(int source, int errno) {
        if (!directed || source < 0) {
            return;
        }
        for (TagMatcher matcher : matchers) {
            PostedReceive receive = matcher.nextDirected(null, source);
            while (receive != null) {
                PostedReceive next = matcher.nextDirected(receive, source);
                matcher.cancel(receive);
                receiver.fail((ReceiveOperation) receive, 0, errno);
                receive = next;
            }
        }
    }
}
