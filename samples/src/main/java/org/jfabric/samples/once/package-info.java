/** A consumer that takes each order of a recorded stream into account exactly once. */
package org.jfabric.samples.once;
