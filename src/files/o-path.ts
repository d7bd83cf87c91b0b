import { platform } from 'node:os';

/** Opens a folder without read permission: permission to enter it is enough. 0 on systems other than Linux, which lack this flag. */
export const O_PATH = platform() === 'linux' ? 0o10000000 : 0;
