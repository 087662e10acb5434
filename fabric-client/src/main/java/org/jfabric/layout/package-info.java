/**
 * Layouts of every shared file, each with a picture of its bytes, and the two ends of a record ring.
 *
 * <p>Classes ending in {@code Descriptor} define only offsets. All values are little-endian. The driver does not rely
 * on shared state: it keeps its own copies of all values that it depends on.
 */
package org.jfabric.layout;
