declare module '@lydell/node-pty/requireBinary.js' {
  import type { Pty } from './load-pty.ts';

  export function requireBinary(file: 'pty.node'): Pty;
}
