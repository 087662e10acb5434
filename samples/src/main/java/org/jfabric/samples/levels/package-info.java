/** Completion levels, and a fence. */
package org.jfabric.samples.levels;
