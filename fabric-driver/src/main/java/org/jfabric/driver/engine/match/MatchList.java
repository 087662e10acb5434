package org.jfabric.driver.engine.match;

/**
 * Doubly linked list of nodes, oldest first, removal in constant time.
 *
 * <p>Owner: progress agent.
 */
final class MatchList {
    private MatchNode head;
    private MatchNode tail;
    private int size;

    /** Oldest node. Returns the node, or null if the list is empty. */
    MatchNode head() {
        return head;
    }

    /** Number of nodes. */
    int size() {
        return size;
    }

    /**
     * Appends a node as the youngest.
     *
     * @param node in no list.
     */
    void append(MatchNode node) {
        MatchNode last = tail;
        if (last == null) {
            head = node;
        } else {
            node.listPrev = last;
            last.listNext = node;
        }
        tail = node;
        size++;
    }

    /** Removes a node from any position. */
    void remove(MatchNode node) {
        MatchNode older = node.listPrev;
        MatchNode younger = node.listNext;
        if (older == null) {
            head = younger;
        } else {
            older.listNext = younger;
            node.listPrev = null;
        }
        if (younger == null) {
            tail = older;
        } else {
            younger.listPrev = older;
            node.listNext = null;
        }
        size--;
    }
}
