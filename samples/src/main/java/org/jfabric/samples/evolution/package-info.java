/** Quotes in two versions of their schema, encoded where the driver takes them from. */
package org.jfabric.samples.evolution;
