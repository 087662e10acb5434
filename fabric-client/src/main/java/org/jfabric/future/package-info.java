/**
 * Futures and callbacks over completion queues, for programs that count convenience higher than nanoseconds.
 *
 * <p>Stands on the public API of {@code org.jfabric} alone and may allocate: about a handful of objects for each
 * transfer. The data path itself stays as it is, and both may be used in one program.
 */
package org.jfabric.future;
