/**
 * One class per long command: small state machines that wait for the resource thread and the progress thread.
 */
package org.jfabric.driver.conductor.command;
