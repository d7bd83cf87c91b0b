export function base64(content: string | Buffer): string {
  return Buffer.from(content).toString('base64');
}
