/**
 * Layouts of every shared file, each with a picture of its bytes, and the two ends of a record ring.
 *
 * <p>Classes ending in {@code Descriptor} hold offsets and nothing else. All values are little-endian. Nothing here
 * decides anything: the driver keeps its own copies of whatever it relies on.
 */
package org.jfabric.layout;
