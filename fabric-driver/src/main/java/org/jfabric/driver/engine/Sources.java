package org.jfabric.driver.engine;

import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;

/**
 * Changes of who is known under which {@code fi_addr}, for what waits to be matched: a message has the source that its
 * sender has now, not the one that it had when the message came.
 *
 * <p>Owner: progress agent.
 */
final class Sources {
    private final EndedReceives ends;
    private final PeerTable peers;
    private final boolean directed;
    private final TagMatcher[] matchers;

    Sources(EndedReceives ends, PeerTable peers, boolean directed, TagMatcher... matchers) {
        this.ends = ends;
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

    /** An address that had no place has one; looks at every message of an unknown sender. */
    void learn(String address, int source) {
        for (TagMatcher matcher : matchers) {
            learn(matcher, matcher.firstUnexpected(), address, source);
            learn(matcher, matcher.firstClaimed(), address, source);
        }
    }

    private static void learn(TagMatcher matcher, UnexpectedMessage first, String address, int source) {
        for (UnexpectedMessage message = first; message != null; message = matcher.nextUnexpected(message)) {
            // the sender may be gone, and be another object if it came back: what it is known by is its address
            Peer peer = ((StoredMessage) message).peer;
            if (message.source() == TagMatcher.UNKNOWN_SOURCE && peer.address().equals(address)) {
                if (peer.source() < 0) {
                    peer.source(source);
                }
                matcher.learnSource(message, source);
            }
        }
    }

    /** A place will mean another peer: receives that name it end. */
    void forget(int source) {
        for (TagMatcher matcher : matchers) {
            forget(matcher, matcher.firstUnexpected(), source);
            forget(matcher, matcher.firstClaimed(), source);
            matcher.forgetSource(source);
        }
        failDirected(source, FabricErrno.ECANCELED);
    }

    /** Senders that are gone are in no table of peers, only at their messages. */
    private static void forget(TagMatcher matcher, UnexpectedMessage first, int source) {
        for (UnexpectedMessage message = first; message != null; message = matcher.nextUnexpected(message)) {
            if (message.source() == source) {
                ((StoredMessage) message).peer.source(Peer.UNKNOWN_SOURCE);
            }
        }
    }

    /** Ends the posted receives. */
    void cancelPosted(int errno) {
        for (TagMatcher matcher : matchers) {
            for (PostedReceive first = matcher.firstPosted(); first != null; first = matcher.firstPosted()) {
                matcher.cancel(first);
                ends.fail((ReceiveOperation) first, 0, errno);
            }
        }
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
                ends.fail((ReceiveOperation) receive, 0, errno);
                receive = next;
            }
        }
    }
}
