/** The version of the protocol that is spoken. Clients read it out of the userAgent and refuse older ones. */
export const PROTOCOL_VERSION = '0.169.0';
