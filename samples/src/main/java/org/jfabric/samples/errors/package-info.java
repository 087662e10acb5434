/** Error entries of transfers that cannot be done. */
package org.jfabric.samples.errors;
