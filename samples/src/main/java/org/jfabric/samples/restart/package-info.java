/** An application that outlives its driver. */
package org.jfabric.samples.restart;
