/** What tests of whole drivers share: setups, endpoints with all they need, drivers in processes of their own. */
package org.jfabric.driver.kit;
