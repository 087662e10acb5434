package org.jfabric.driver.progress;

import org.jfabric.driver.engine.Engine;

/**
 * One progress thread of a driver: it alone serves the endpoints of its engine.
 *
 * @param index  its number, from 0.
 * @param engine with links of its own.
 * @param agent  its duty cycle.
 * @param proxy  passes changes to it.
 */
public record ProgressThread(int index, Engine engine, ProgressAgent agent, ProgressProxy proxy) {
}
