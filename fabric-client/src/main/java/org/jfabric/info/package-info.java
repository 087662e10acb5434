/**
 * Descriptions of fabrics, domains and endpoints: infos and attributes, enumerations, flags, error codes and addresses.
 * It is the lowest package of the API and uses no other part of the client but its layouts and native calls.
 */
package org.jfabric.info;
