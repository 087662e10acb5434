/** A stream over two paths, of which one is cut. */
package org.jfabric.samples.paths;
