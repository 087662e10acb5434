package org.jfabric.tool.watch;

/**
 * The choices of the user.
 *
 * @param isReverse least first, texts from Z.
 * @param filter    text that an endpoint, its client, state or one of its peers must contain; empty for all.
 */
record TopView(TopColumn sort, boolean isReverse, String filter, boolean hasPeers) {
    TopView sortedBy(TopColumn column) {
        return new TopView(column, isReverse, filter, hasPeers);
    }

    TopView reversed() {
        return new TopView(sort, !isReverse, filter, hasPeers);
    }

    TopView filteredBy(String text) {
        return new TopView(sort, isReverse, text, hasPeers);
    }

    TopView withOrWithoutPeers() {
        return new TopView(sort, isReverse, filter, !hasPeers);
    }
}
