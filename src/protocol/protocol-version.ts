/**
 * The version of the protocol that the server speaks. Clients read it from the userAgent and refuse
 * older versions.
 */
export const PROTOCOL_VERSION = '0.169.0';
