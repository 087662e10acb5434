/**
 * Streams between hosts: datagrams, their repair, joining and leaving, pacing. State machines that are stepped, over a
 * {@link org.jfabric.driver.stream.net.StreamSocket}; they have no thread, file or socket of their own.
 */
package org.jfabric.driver.stream.net;
