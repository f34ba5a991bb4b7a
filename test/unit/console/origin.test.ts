/** The address of a console in the cluster as the browser sees it, and the address of the browser. */
import { expect } from 'chai';
import { addressOf, originFor } from '../../../src/cli/console/in-cluster/origin.ts';

type Incoming = Parameters<typeof addressOf>[0];

interface Given {
  readonly headers?: Incoming['headers'];
  readonly isEncrypted?: boolean;
  readonly isTrusting?: boolean;
}
const request = ({ headers = {}, isEncrypted = false }: Given): Incoming =>
  ({
    headers,
    raw: { socket: { encrypted: isEncrypted, remoteAddress: '10.0.0.9' } },
  }) as unknown as Incoming;
const rules = ({ isTrusting = false }: Given) => ({
  allowedHosts: ['console.example.org'],
  trustsForwardedHeaders: isTrusting,
});
const originOf = (given: Given): string => originFor(request(given), rules(given));

describe('the origin of the console', () => {
  const https = { 'x-forwarded-proto': 'https' };
  const host = 'console.example.org';
  const rows: readonly (readonly [title: string, given: Given, origin: string])[] = [
    ['is HTTP', { headers: { host } }, `http://${host}`],
    ['is HTTPS on a socket with TLS', { headers: { host }, isEncrypted: true }, `https://${host}`],
    ['is HTTPS behind an ingress', { headers: { host, ...https }, isTrusting: true }, `https://${host}`],
    ['is HTTP if the header is not trusted', { headers: { host, ...https } }, `http://${host}`],
    [
      'depends on the last proxy',
      { headers: { host, 'x-forwarded-proto': 'https, http' }, isTrusting: true },
      `http://${host}`,
    ],
    ['is HTTP behind an ingress without TLS', { headers: { host }, isTrusting: true }, `http://${host}`],
    ['has the port', { headers: { host: `${host}:8443` }, isEncrypted: true }, `https://${host}:8443`],
    [
      'ignores the case of the name',
      { headers: { host: 'Console.Example.ORG' } },
      'http://Console.Example.ORG',
    ],
    ['may be the loopback address', { headers: { host: 'localhost:8082' } }, 'http://localhost:8082'],
  ];
  for (const [title, given, origin] of rows)
    it(title, () => {
      expect(originOf(given)).to.equal(origin);
    });

  for (const name of ['evil.example.org', '', 'console.example.org:x', 'console.example.org:99999'])
    it(`is refused: "${name}"`, () => {
      expect(() => originOf({ headers: { host: name } })).to.throw('is not allowed');
    });
});

describe('the address of a browser', () => {
  const rows: readonly (readonly [title: string, given: Given, address: string])[] = [
    ['is that of the socket', {}, '10.0.0.9'],
    ['is not what the client says', { headers: { 'x-forwarded-for': '1.1.1.1' } }, '10.0.0.9'],
    [
      'is what the ingress added last',
      { headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, isTrusting: true },
      '2.2.2.2',
    ],
    [
      'is in the last of several headers',
      {
        headers: { 'x-forwarded-for': ['1.1.1.1', '2.2.2.2'] },
        isTrusting: true,
      },
      '2.2.2.2',
    ],
    ['is that of the socket if the ingress says nothing', { isTrusting: true }, '10.0.0.9'],
  ];
  for (const [title, given, address] of rows)
    it(title, () => {
      expect(addressOf(request(given), rules(given))).to.equal(address);
    });
});
