/** The folders in which the kernel shows its own state. A sandbox has its own. */
export const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];
