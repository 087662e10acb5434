/**
 * The public API of JFabric, and nothing else: what an application opens, submits to and reads.
 */
package org.jfabric;
