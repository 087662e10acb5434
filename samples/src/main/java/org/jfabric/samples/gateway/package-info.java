/** Many connections that take their messages from one queue of receives. */
package org.jfabric.samples.gateway;
