/**
 * Matching of arriving messages with posted receives, independent of any link.
 *
 * <p>{@link org.jfabric.driver.engine.match.TagMatcher} is the only entry. The engine's own records extend
 * {@link org.jfabric.driver.engine.match.PostedReceive} and
 * {@link org.jfabric.driver.engine.match.UnexpectedMessage}: the links are part of the records, so no operation
 * allocates. Owner: progress agent; nothing here is safe for a second thread.
 */
package org.jfabric.driver.engine.match;
