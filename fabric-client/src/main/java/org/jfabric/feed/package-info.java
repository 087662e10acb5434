/**
 * One stream of messages over two paths or more: the first copy of each message is delivered, the others are dropped.
 *
 * <p>Stands on the public API of {@code org.jfabric} alone and allocates nothing for a message. See
 * {@code docs/feeds.md}.
 */
package org.jfabric.feed;
