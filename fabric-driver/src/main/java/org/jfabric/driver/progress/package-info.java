/**
 * The busy loop: takes work requests out of the clients' queues, moves the engine on, and sleeps when the mode
 * allows it.
 */
package org.jfabric.driver.progress;
