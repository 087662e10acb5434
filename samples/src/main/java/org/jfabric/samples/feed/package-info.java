/** A feed: each message over two paths, delivered once. */
package org.jfabric.samples.feed;
