/** Sequence numbers that several clients draw from one word of memory. */
package org.jfabric.samples.sequence;
