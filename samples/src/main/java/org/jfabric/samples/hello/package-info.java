/** The smallest whole program. */
package org.jfabric.samples.hello;
