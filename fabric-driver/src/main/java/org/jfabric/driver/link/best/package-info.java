/**
 * Endpoints that reach each peer by the best of several other links, under one address. There is no wire here: the
 * engine uses the other links.
 */
package org.jfabric.driver.link.best;
