import { expect } from 'chai';
import type { TransportError } from '../../../src/runtime/errors.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import {
  isVersionTooLarge,
  isTemporary,
  pauseBeforeRepeat,
  transportErrorFrom,
} from '../../../src/runtime/transport/failure.ts';
import { noChance } from './support/world.ts';

const ref = { verb: 'get', kind: 'Thing', namespace: 'ns', name: 'a' };
const said = (status: number, retryAfter?: number): Error => apiErrorFrom(status, {}, ref, retryAfter);
const coded = (code: string): Error => Object.assign(new Error('socket'), { code });
const broken = (code: string): TransportError => transportErrorFrom(coded(code), 'https://s', ref, true);
const notYet = apiErrorFrom(
  504,
  { details: { causes: [{ reason: 'Other' }, { reason: 'ResourceVersionTooLarge' }] } },
  ref,
);

describe('the pause before a request is sent again', () => {
  type Row = readonly [title: string, error: unknown, tries: number, pause: number | undefined];
  const hold = (isIdempotent: boolean, rows: readonly Row[]): void => {
    for (const [title, error, tries, pause] of rows)
      it(`${title}, after ${String(tries)}: ${pause === undefined ? 'none, report it' : `${String(pause)} ms`}`, () => {
        expect(pauseBeforeRepeat(error, tries, isIdempotent, noChance)).to.equal(pause);
      });
  };

  describe('for a request with an effect', () => {
    hold(false, [
      ['429 with a time', said(429, 3), 1, 3_000],
      ['429 with a long time', said(429, 3_600), 1, 60_000],
      ['429 without a time', said(429), 1, 1_000],
      ['429 without a time', said(429), 3, 4_000],
      ['429 with a time', said(429, 0), 7, 0],
      ['429 with a time', said(429, 0), 8, undefined],
      ['503 with a time', said(503, 2), 7, 2_000],
      ['503 without a time', said(503), 1, undefined],
      ['500 with a time', said(500, 2), 1, undefined],
      ['a reset connection', broken('ECONNRESET'), 1, undefined],
    ]);
  });

  describe('for a read', () => {
    hold(true, [
      ['429 with a time', said(429, 3), 7, 3_000],
      ['500', said(500), 1, 200],
      ['503', said(503), 2, 400],
      ['500', said(500), 3, 800],
      ['500', said(500), 4, undefined],
      ['501', said(501), 1, undefined],
      ['505', said(505), 1, undefined],
      ['404', said(404), 1, undefined],
      ['a version that is too large', notYet, 1, undefined],
      ['a reset connection', broken('ECONNRESET'), 1, 0],
      ['a reset connection', broken('ECONNRESET'), 2, 400],
      ['a reset connection', broken('ECONNRESET'), 3, 800],
      ['a reset connection', broken('ECONNRESET'), 4, undefined],
      ['a refused connection', broken('ECONNREFUSED'), 1, undefined],
      ['an unknown name', broken('ENOTFOUND'), 1, undefined],
      ['a failing DNS', broken('EAI_AGAIN'), 1, undefined],
      ['an unreachable host', broken('EHOSTUNREACH'), 1, undefined],
      ['an unreachable network', broken('ENETUNREACH'), 1, undefined],
      ['a connection timeout', broken('UND_ERR_CONNECT_TIMEOUT'), 1, undefined],
      ['a response timeout', broken('UND_ERR_HEADERS_TIMEOUT'), 1, undefined],
      ['an untrusted certificate', broken('SELF_SIGNED_CERT_IN_CHAIN'), 1, undefined],
      ['another error', new Error('bug'), 1, undefined],
    ]);
  });

  it('varies by a fifth', () => {
    const at = (value: number): number | undefined =>
      pauseBeforeRepeat(said(500), 1, true, { next: () => value });
    expect(at(0)).to.equal(160);
    expect(at(0.999999)).to.be.closeTo(240, 0.01);
  });
});

describe('whether a failure is temporary', () => {
  for (const [title, error, expected] of [
    ['429', said(429), true],
    ['500', said(500), true],
    ['503', said(503), true],
    ['501', said(501), false],
    ['505', said(505), false],
    ['404', said(404), false],
    ['a reset connection', broken('ECONNRESET'), true],
    ['a refused connection', broken('ECONNREFUSED'), true],
    ['an expired certificate', broken('CERT_HAS_EXPIRED'), false],
    ['a server without TLS', broken('ERR_SSL_WRONG_VERSION_NUMBER'), false],
    ['a bug', new Error('bug'), false],
  ] as const)
    it(`${title}: ${String(expected)}`, () => {
      expect(isTemporary(error)).to.equal(expected);
    });
});

describe('a version that the server does not know yet', () => {
  it('is detected by one of the causes', () => {
    expect(isVersionTooLarge(notYet)).to.equal(true);
    expect(isVersionTooLarge(said(504))).to.equal(false);
    expect(isVersionTooLarge(new Error('no'))).to.equal(false);
  });
});

describe('the error of a connection', () => {
  type Row = readonly [code: string, isIdempotent: boolean, isSafe: boolean, message: string];
  const rows: readonly Row[] = [
    ['ECONNREFUSED', false, true, 'cannot reach https://s (ECONNREFUSED), while trying to get Thing ns/a'],
    [
      'ECONNRESET',
      false,
      false,
      'lost the connection to https://s (ECONNRESET), while trying to get Thing ns/a',
    ],
    ['ECONNRESET', true, true, 'lost the connection to https://s (ECONNRESET)'],
    ['UND_ERR_CONNECT_TIMEOUT', false, true, 'cannot reach https://s (UND_ERR_CONNECT_TIMEOUT)'],
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      false,
      true,
      'cannot trust https://s (SELF_SIGNED_CERT_IN_CHAIN): its certificate is from an unknown authority; to trust it, put its certificate authority into the kubeconfig',
    ],
    ['CERT_NOT_YET_VALID', false, true, 'its certificate is not valid yet; check the clocks'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', false, true, 'cannot use https://s (ERR_SSL_WRONG_VERSION_NUMBER): '],
  ];
  for (const [code, isIdempotent, isSafe, message] of rows)
    it(`names the server and the remedy: ${code}${isIdempotent ? ', which may be repeated' : ''}`, () => {
      const error = transportErrorFrom(coded(code), 'https://s', ref, isIdempotent);
      expect(error.message).to.contain(message);
      expect(error.safeToRepeat).to.equal(isSafe);
      expect(error.cause).to.have.property('code', code);
    });
});
