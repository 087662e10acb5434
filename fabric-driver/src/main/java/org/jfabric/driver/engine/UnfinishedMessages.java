package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;

/**
 * Messages that no receive has taken and whose payloads will never be here as a whole: those that wait are forgotten,
 * those that are claimed stay until who claimed them was told.
 *
 * <p>Owner: progress agent.
 */
final class UnfinishedMessages {
    private final UnexpectedStore store;

    UnfinishedMessages(UnexpectedStore store) {
        this.store = store;
    }

    /** A peer is gone; looks at every message of the matcher. */
    void failPeer(TagMatcher matcher, Peer peer, int errno) {
        UnexpectedMessage message = matcher.firstUnexpected();
        while (message != null) {
            UnexpectedMessage next = matcher.nextUnexpected(message);
            StoredMessage waiting = (StoredMessage) message;
            if (isUnfinished(waiting, peer)) {
                matcher.removeUnexpected(waiting);
                giveBack(waiting);
                store.giveMessage(waiting);
            }
            message = next;
        }
        for (message = matcher.firstClaimed(); message != null; message = matcher.nextUnexpected(message)) {
            StoredMessage claimed = (StoredMessage) message;
            if (isUnfinished(claimed, peer)) {
                lost(claimed, errno);
            }
        }
    }

    /** A claimed message will never be whole: its record stays until the claim is fetched or discarded. */
    void lost(StoredMessage message, int errno) {
        giveBack(message);
        store.giveBlock(message);
        message.state = StoredMessage.LOST;
        message.errno = errno;
    }

    private static boolean isUnfinished(StoredMessage message, Peer peer) {
        return message.peer == peer
            && (message.state == StoredMessage.FILLING || message.state == StoredMessage.ANNOUNCED);
    }

    private static void giveBack(StoredMessage message) {
        if (message.state == StoredMessage.FILLING) {
            message.peer.left(message.length, message.epoch);
        } else {
            message.peer.held().announcementLeft();
        }
    }
}
