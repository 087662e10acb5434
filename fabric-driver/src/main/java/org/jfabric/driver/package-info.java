/**
 * The driver: launching it, embedded or as a daemon, its threading modes and its directory.
 */
package org.jfabric.driver;
