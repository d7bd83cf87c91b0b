import { platform } from 'node:os';

/**
 * Opens a handle of a file or folder, through which it can only be looked at: that needs no
 * permission to read it, has no effect on a device or a pipe, and closing the handle drops no lock.
 * 0 on systems other than Linux, which lack this flag.
 */
export const O_PATH = platform() === 'linux' ? 0o10000000 : 0;
