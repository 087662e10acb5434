/**
 * What the queues of endpoints hold, for people who look from another process: bounded looks, in the duty cycle, and
 * only while somebody has asked.
 */
package org.jfabric.driver.engine.view;
