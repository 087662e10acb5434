/** Streams over a network that loses datagrams: JFabric's beside Aeron's, through the same relay. */
package org.jfabric.perf.loss;
