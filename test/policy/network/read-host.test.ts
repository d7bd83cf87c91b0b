import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKind } from '../../../src/policy/network/address-kind.ts';
import { hostInUrl, readAuthority, readHost } from '../../../src/policy/network/read-host.ts';

const SEED = { seed: 20_261_122, numRuns: 2000 };

describe('a host', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost.', 'localhost'],
    ['[2001:DB8:0::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
  ])('%s has one spelling', (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    '0x7f.1',
    '2130706433',
    '017700000001',
    '127.1',
    '0177.0.0.1',
    '127.0.0.1.',
    '１２７.0.0.1',
    '::ffff:127.0.0.1',
    '[::FFFF:7f00:1]',
  ])('%s is the address 127.0.0.1', (text) => {
    expect(readHost(text)).toBe('127.0.0.1');
  });

  test.each([
    ...[
      '',
      '.',
      '..',
      'a..b',
      '.a',
      'a b',
      'a\0.example',
      'a\n.example',
      'user@host',
      'host/path',
      'host?',
      'host#',
      'a\\b',
      'host:80',
    ],
    ...[
      'exa%6dple.com',
      '%00',
      '1.2.3.4.5',
      '256.1.1.1',
      '09.1.1.1',
      '[fe80::1%25eth0]',
      'fe80::1%eth0',
      '[::1',
      '::1]',
      '[example.com]',
    ],
    ...['a'.repeat(64), `${'a.'.repeat(127)}aa`, '*.example.com', "a'b", 'a!b'],
  ])('%j is none', (text) => {
    expect(readHost(text)).toBeNull();
  });

  test('is read the same way again, whatever the text was', () => {
    const parts = fc.constantFrom(
      'a',
      'Z',
      '0x',
      '7',
      '255',
      '.',
      '.',
      ':',
      '[',
      ']',
      '%',
      '\0',
      'ⓔ',
      '-',
      '_',
      '@',
      '/',
      '::ffff:',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(parts, { maxLength: 12 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const host = readHost(text);
        if (host === null) return;
        expect(host).toMatch(/^[a-z0-9._:-]+$/);
        expect(readHost(host)).toBe(host);
        expect(readHost(hostInUrl(host))).toBe(host);
        expect(new URL(`http://${hostInUrl(host)}/`).hostname).toBe(hostInUrl(host));
      }),
      SEED,
    );
  });

  test('that is an IPv4 address is recognized in every notation of its parts', () => {
    const notation = fc.constantFrom(10, 8, 16);
    const written = (value: number, base: number) =>
      base === 10
        ? String(value)
        : base === 8
          ? `0${value.toString(8)}`
          : `0x${value.toString(16)}`;
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.integer({ min: 1, max: 4 }),
        fc.array(notation, { minLength: 4, maxLength: 4 }),
        (address, count, bases) => {
          const bytes = address.split('.').map(Number);
          const rest = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
          const text = [...bytes.slice(0, count - 1), rest]
            .map((value, index) => written(value, bases[index] ?? 10))
            .join('.');
          expect(readHost(text)).toBe(address);
        },
      ),
      SEED,
    );
  });
});

describe('an authority', () => {
  test.each([
    ['example.com:443', { host: 'example.com', port: 443 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
  ])('%s has a host and a port', (text, expected) => {
    expect(readAuthority(text)).toEqual(expected);
  });

  test.each([
    'example.com',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:+80',
    'example.com: 80',
    '::1:80',
    ':80',
    'a@b:80',
  ])('%j is none', (text) => {
    expect(readAuthority(text)).toBeNull();
  });
});

describe('an address', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '198.18.0.1',
    ].map((ip) => [ip, 'private']),
    ...['::1', 'fd00::1', '::ffff:10.0.0.1', '::ffff:7f00:1'].map((ip) => [ip, 'private']),
    ...[
      '0.0.0.0',
      '169.254.169.254',
      '100.100.100.200',
      '192.0.2.1',
      '224.0.0.1',
      '255.255.255.255',
      '240.0.0.1',
    ].map((ip) => [ip, 'reserved']),
    ...[
      '::',
      '::7f00:1',
      'fe80::1',
      'fec0::1',
      'ff02::1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '2002:7f00:1::',
      '2001::1',
    ].map((ip) => [ip, 'reserved']),
    ...[
      '2001:db8::1',
      '100::1',
      '5f00::1',
      '3fff::1',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
    ].map((ip) => [ip, 'reserved']),
    ...['168.63.129.16', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'].map(
      (ip) => [ip, 'reserved'],
    ),
    ...['168.63.129.17', '2606:4700::'].map((ip) => [ip, 'public']),
    ...['fe80::1%eth0', 'localhost', ''].map((text) => [text, 'reserved']),
  ])('%s is %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });

  test('within IPv6 is of the same kind as the IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressKind(`::ffff:${address}`)).toBe(addressKind(address));
      }),
      SEED,
    );
  });
});
