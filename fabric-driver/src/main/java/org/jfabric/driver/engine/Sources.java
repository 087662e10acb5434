package org.jfabric.driver.engine;

import java.util.function.LongPredicate;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/**
 * Applies changes of the address vector to waiting messages and posted receives: a message has the source that its
 * sender has now, not the one that it had when the message arrived.
 *
 * <p>Owner: progress agent.
 */
final class Sources {
    private final EndedReceives ends;
    private final LongPredicate own;
    /** Whether a receive may name an address. */
    private LongPredicate valid;
    private final boolean directed;
    private final TagMatcher[] matchers;

    Sources(EndedReceives ends, LongPredicate valid, boolean directed, TagMatcher... matchers) {
        this.ends = ends;
        this.own = valid;
        this.valid = valid;
        this.directed = directed;
        this.matchers = matchers;
    }

    /** Sets whether a receive may name an address, of the endpoints that are bound; null if there is none any more. */
    void valid(LongPredicate newValid) {
        valid = newValid == null ? own : newValid;
    }

    /** The source that a receive accepts; {@link TagMatcher#UNKNOWN_SOURCE} if it is not in the address vector. */
    int find(long srcAddr) {
        if (!directed || srcAddr == FabricAddress.ADDR_UNSPEC) {
            return TagMatcher.ANY_SOURCE;
        }
        return valid.test(srcAddr) ? (int) srcAddr : TagMatcher.UNKNOWN_SOURCE;
    }

    /** An address was inserted into the address vector; visits every waiting message. */
    void learn(String address, int source) {
        for (TagMatcher matcher : matchers) {
            learn(matcher, matcher.firstUnexpected(), address, source);
            learn(matcher, matcher.firstClaimed(), address, source);
        }
    }

    private static void learn(TagMatcher matcher, UnexpectedMessage first, String address, int source) {
        for (UnexpectedMessage message = first; message != null; message = matcher.nextUnexpected(message)) {
            // compared by address: the sender may be down, and is another object if it has connected again
            PeerReceives from = ((StoredMessage) message).from;
            if (message.source() == TagMatcher.UNKNOWN_SOURCE && from.peer().endpointAddress().equals(address)) {
                if (from.peer().source() < 0) {
                    from.source(source);
                }
                matcher.learnSource(message, source);
            }
        }
    }

    /** An address was removed and its place may be reused for another peer: directed receives from it end. */
    void forget(int source) {
        for (TagMatcher matcher : matchers) {
            forget(matcher, matcher.firstUnexpected(), source);
            forget(matcher, matcher.firstClaimed(), source);
            matcher.forgetSource(source);
        }
        failDirected(source, FabricErrno.ECANCELED);
    }

    /** Senders that are down are in no table of peers; only their messages refer to them. */
    private static void forget(TagMatcher matcher, UnexpectedMessage first, int source) {
        for (UnexpectedMessage message = first; message != null; message = matcher.nextUnexpected(message)) {
            if (message.source() == source) {
                ((StoredMessage) message).from.source(Peer.UNKNOWN_SOURCE);
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

    /** A peer is down; directed receives end unless another context of its endpoint is still there. */
    void failPeer(PeerReceives from, int errno, boolean isUpElsewhere) {
        if (!isUpElsewhere) {
            failDirected(from.peer().source(), errno);
        }
    }

    /** Ends the posted receives that are directed to a source; an unknown source has none. */
    private void failDirected(int source, int errno) {
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
