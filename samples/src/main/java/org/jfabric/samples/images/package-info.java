/** Large messages that several readers use in the writer's memory. */
package org.jfabric.samples.images;
