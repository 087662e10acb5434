/** A group: one writer, several readers. */
package org.jfabric.samples.group;
