/**
 * What a usual machine takes to give a process this much fresh memory, in milliseconds of processor
 * time.
 */
const KNOWN_MS = 1;
const FRESH_BYTES = 4 * 1024 * 1024;
const TIMES = 5;

/**
 * How much longer this machine takes now to give a process fresh memory than a usual one: at least
 * 1. A virtual machine whose host is short of memory may take ten times as long, which makes all
 * work with large texts slower. Other work it does as fast as ever.
 */
export function memorySlowness(): number {
  const took = Array.from({ length: TIMES }, () => {
    const before = process.cpuUsage();
    Buffer.allocUnsafeSlow(FRESH_BYTES).fill(1);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  const [, , median = KNOWN_MS] = took.sort((one, other) => one - other);
  return Math.max(1, median / KNOWN_MS);
}
