/** Failures to connect, as real servers and a real resolver cause them. */
import { expect } from 'chai';
import { Agent, request } from 'undici';
import {
  connectionAdvice,
  connectionCode,
  connectionFault,
  type ConnectionFault,
} from '../../../src/lib/connection.ts';
import { skip } from '../../support/skip.ts';
import { startUnusableServers, type UnusableServers } from '../../support/unusable-servers.ts';

describe('a connection that fails', () => {
  let servers: UnusableServers;
  before(async () => {
    servers = await startUnusableServers();
  });
  after(() => servers.stop());

  const failure = async (url: string, connect: object = {}): Promise<unknown> => {
    const dispatcher = new Agent({ connect: { timeout: 5_000, ...connect } });
    try {
      await (await request(url, { dispatcher })).body.dump();
    } catch (error) {
      return error;
    } finally {
      await dispatcher.destroy();
    }
    throw new Error(`${url} was reached`);
  };

  type Row = readonly [string, () => Promise<unknown>, ConnectionFault, string];
  const rows: readonly Row[] = [
    [
      'HTTPS that is not trusted',
      () => failure(`https://${servers.untrusted}`),
      'certificate',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    [
      'HTTPS for another name',
      () => failure(`https://${servers.untrusted}`, { ca: servers.authority, servername: 'other.example' }),
      'certificate',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'HTTPS that has expired',
      () => failure(`https://${servers.expired}`, { ca: servers.authority }),
      'certificate',
      'CERT_HAS_EXPIRED',
    ],
    [
      'https:// for a server of plain HTTP',
      () => failure(`https://${servers.plain}`),
      'protocol',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    [
      'http:// for a server that does not speak HTTP',
      () => failure(`http://${servers.garbage}`),
      'protocol',
      'HTTPParserError',
    ],
    ['a port without a server', () => failure(`https://${servers.closed}`), 'passing', 'ECONNREFUSED'],
    [
      'a server that closes HTTP connections',
      () => failure(`http://${servers.hangingUp}`),
      'passing',
      'UND_ERR_SOCKET',
    ],
    [
      'a server that closes TLS connections',
      () => failure(`https://${servers.hangingUp}`),
      'passing',
      'ECONNRESET',
    ],
    ['a name that does not exist', () => failure('https://nothing.invalid'), 'name', 'ENOTFOUND'],
  ];
  for (const [what, attempt, fault, code] of rows) {
    it(`to ${what} counts as ${fault}`, async function () {
      const error = await attempt();
      if (connectionCode(error) === 'EAI_AGAIN') skip(this, 'no name server answers here');
      expect([connectionCode(error), connectionFault(error)]).to.deep.equal([code, fault]);
    });
  }

  const coded = (code: string): Error => Object.assign(new Error('failed'), { code });
  const codes: readonly (readonly [string, ConnectionFault])[] = [
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate'],
    ['CERT_NOT_YET_VALID', 'certificate'],
    ['CERT_REVOKED', 'certificate'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'protocol'],
    ['EPROTO', 'protocol'],
    ['HPE_INVALID_CONSTANT', 'protocol'],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', 'passing'],
    ['UND_ERR_CONNECT_TIMEOUT', 'passing'],
    ['UND_ERR_HEADERS_TIMEOUT', 'passing'],
    ['EAI_AGAIN', 'passing'],
    ['EHOSTUNREACH', 'passing'],
    ['ENETUNREACH', 'passing'],
    ['ETIMEDOUT', 'passing'],
    ['EPIPE', 'passing'],
  ];
  for (const [code, fault] of codes) {
    it(`${code} counts as ${fault}, however deep it is`, () => {
      const wrapped = new TypeError('fetch failed', { cause: new AggregateError([coded(code)]) });
      expect([connectionFault(coded(code)), connectionFault(wrapped)]).to.deep.equal([fault, fault]);
    });
  }

  it('has advice if it fails permanently, which says how to trust an authority', () => {
    const advice = (code: string) => connectionAdvice(coded(code), 'do this');
    expect(advice('DEPTH_ZERO_SELF_SIGNED_CERT')).to.equal(
      'its certificate is self-signed and not trusted; to trust it, do this',
    );
    for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
      expect(advice(code)).to.equal('its certificate is from an unknown authority; to trust it, do this');
    expect(advice('CERT_REVOKED')).to.equal('its certificate is not trusted; to trust it, do this');
    expect(advice('ERR_TLS_CERT_ALTNAME_INVALID')).to.contain('other host names');
    expect(advice('CERT_HAS_EXPIRED')).to.contain('expired');
    expect(advice('EPROTO')).to.contain('https:// or http://');
    expect(advice('ECONNREFUSED')).to.equal(undefined);
    expect(advice('ENOTFOUND')).to.equal(undefined);
  });
});
