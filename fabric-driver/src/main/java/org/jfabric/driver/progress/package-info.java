/**
 * The busy loop: takes work requests out of the clients' queues, runs the engine, and sleeps when the mode allows it.
 */
package org.jfabric.driver.progress;
