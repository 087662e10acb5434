/** One endpoint with thousands of peers. */
package org.jfabric.driver.scale;
