/** Endpoints that are named by sockets: chapter SOCK of the requirement rows. */
package org.jfabric.driver.conformance.socket;
