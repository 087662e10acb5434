package org.jfabric.driver.progress;

import org.jfabric.driver.engine.Engine;

/**
 * One progress thread of a driver: it alone serves the endpoints of its engine.
 *
 * @param index  its number, from 0.
 */
public record ProgressThread(int index, Engine engine, ProgressAgent agent, ProgressProxy proxy) {
}
