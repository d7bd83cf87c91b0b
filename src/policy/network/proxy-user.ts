/** The user whose password is the credential of a command's proxy. */
export const PROXY_USER = 'heddle';
