/**
 * The program of {@code docs/tutorial.md}: a publisher of quotes and its subscribers, over a daemon, with embedded
 * drivers, and over tcp.
 */
package org.jfabric.samples.quotes;
