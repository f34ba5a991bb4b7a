/** A certificate in files: which files are refused, and what happens when they change. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import {
  FILES_CHECK_MS,
  followCertificateFiles,
  readCertificateFiles,
  UnusableCertificate,
  validityOf,
  type CertificatePair,
} from '../../../src/runtime/certificate-files.ts';
import { FakeClock } from '../../support/clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const HOST = 'hooks.ls-system.svc';
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const authority = createAuthority('ca');

function issued(hosts = [HOST], days: readonly [from: number, until: number] = [-1, 365]): CertificatePair {
  const [from, until] = days.map((day) => START + day * DAY_MS) as [number, number];
  const { certificate, key } = issueCertificate(authority, createPrivateKey(authority.key), {
    commonName: HOST,
    usage: 'server',
    hosts,
    validity: { from, until },
  });
  return { cert: certificate, key };
}

describe('a certificate in files', () => {
  const [one, two] = [issued(), issued()];
  let folder: string;
  let files: CertificatePair;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-certificate-'));
    files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const write = ({ cert, key }: Partial<CertificatePair>): void => {
    if (cert !== undefined) writeFileSync(files.cert, cert);
    if (key !== undefined) writeFileSync(files.key, key);
  };
  const refusal = (host?: string): string => {
    try {
      readCertificateFiles(files, host);
    } catch (error) {
      if (error instanceof UnusableCertificate) return error.message.replaceAll(`${folder}/`, '');
      throw error;
    }
    return '';
  };

  it('is used if the key belongs to it, also with its intermediate authorities', () => {
    write(one);
    expect(readCertificateFiles(files, HOST)).to.deep.equal(one);
    write({ cert: `${one.cert}\n${authority.certificate}` });
    expect(refusal(HOST)).to.equal('');
  });

  it('is refused with the name of the file and the remedy', () => {
    expect(refusal()).to.equal(
      'cannot read the certificate tls.crt: the file does not exist; mount a Secret of type kubernetes.io/tls there, or name another file',
    );
    write({ cert: one.cert });
    expect(refusal()).to.match(/^cannot read the key tls\.key: the file does not exist; mount a Secret/);
    write({ key: two.key });
    expect(refusal()).to.match(
      /^the key tls\.key does not belong to the first certificate in tls\.crt; write/,
    );
    write({ cert: `${authority.certificate}${two.cert}` });
    expect(refusal()).to.contain('does not belong to the first certificate');
    write({ cert: 'x', key: one.key });
    expect(refusal()).to.match(/^tls\.crt does not contain a certificate in PEM; write the certificate/);
    write({ cert: one.cert, key: '' });
    expect(refusal()).to.match(/^tls\.key does not contain a private key in PEM without a passphrase; write/);
    const locked = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    });
    write({ key: locked.privateKey });
    expect(refusal()).to.contain('without a passphrase');
    rmSync(files.cert);
    mkdirSync(files.cert);
    expect(refusal()).to.contain('cannot read the certificate tls.crt').and.contain('EISDIR');
  });

  it('is refused if clients know the server by another name; the common name does not count', () => {
    write(issued(['other.ls-system.svc', 'b']));
    expect(refusal(HOST)).to.equal(
      `the certificate tls.crt is not valid for ${HOST}, only for DNS:other.ls-system.svc, DNS:b; request one whose subject alternative names contain ${HOST}`,
    );
    write(issued([]));
    expect(refusal(HOST)).to.contain('only for no name at all');
    write(issued(['10.0.0.5']));
    expect([refusal('10.0.0.5'), refusal('10.0.0.6') === '']).to.deep.equal(['', false]);
  });

  for (const [now, expected] of [
    [-2, 'early'],
    [0, 'valid'],
    [89, 'valid'],
    [91, 'expires soon'],
    [100, 'expired'],
  ] as const)
    it(`is ${expected} ${String(now)} days after the start of its 100 days`, () => {
      const { cert } = issued([HOST], [0, 100]);
      expect(validityOf(cert, START + now * DAY_MS)).to.equal(expected);
    });

  describe('that is followed', () => {
    let clock: FakeClock;
    let used: string[];
    let stop: () => void;
    let lines: ReturnType<typeof recordingLogger>;
    beforeEach(() => {
      clock = new FakeClock('2026-01-01T00:00:00Z');
      used = [];
      lines = recordingLogger();
    });
    afterEach(() => {
      stop();
    });
    const follow = (first: CertificatePair): void => {
      write(first);
      const use = ({ cert }: CertificatePair) => used.push(cert);
      stop = followCertificateFiles(files, first, { clock, log: lines.log, host: HOST, use });
    };
    const logged = (message: string): number => lines.lines.filter((line) => line.message === message).length;

    it('replaces the one in use when both files have changed, as the kubelet does it', async () => {
      const version = (name: string, pair: CertificatePair): void => {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, 'tls.crt'), pair.cert);
        writeFileSync(join(folder, name, 'tls.key'), pair.key);
        symlinkSync(name, join(folder, '..data_tmp'));
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
      };
      version('v1', one);
      files = { cert: join(folder, '..data/tls.crt'), key: join(folder, '..data/tls.key') };
      const use = ({ cert }: CertificatePair) => used.push(cert);
      stop = followCertificateFiles(files, one, { clock, log: lines.log, use });
      await clock.advance(FILES_CHECK_MS);
      expect(used).to.deep.equal([]);
      version('v2', two);
      await clock.advance(FILES_CHECK_MS - 1);
      expect(used).to.deep.equal([]);
      await clock.advance(1);
      expect(used).to.deep.equal([two.cert]);
      await clock.advance(10 * FILES_CHECK_MS);
      expect(used).to.have.length(1);
      expect(logged('certificate replaced')).to.equal(1);
    });

    it('keeps the one in use while the new files are not usable, and logs each reason once', async () => {
      follow(one);
      write({ cert: two.cert });
      await clock.advance(5 * FILES_CHECK_MS);
      expect([used, logged('new certificate not used')]).to.deep.equal([[], 1]);
      write(issued(['other']));
      await clock.advance(5 * FILES_CHECK_MS);
      expect([used, logged('new certificate not used')]).to.deep.equal([[], 2]);
      write(two);
      await clock.advance(FILES_CHECK_MS);
      expect(used).to.deep.equal([two.cert]);
      rmSync(files.key);
      await clock.advance(FILES_CHECK_MS);
      expect(logged('new certificate not used')).to.equal(3);
    });

    it('logs once an hour that clients refuse it, and that it expires soon', async () => {
      follow(issued([HOST], [-100, 0.02]));
      expect(logged('certificate expires soon')).to.equal(1);
      expect(logged('certificate expired: clients refuse it')).to.equal(0);
      await clock.advance(3_600_000);
      expect(logged('certificate expired: clients refuse it')).to.equal(1);
      expect(logged('certificate expires soon')).to.equal(1);
      await clock.advance(3_600_000);
      expect(logged('certificate expired: clients refuse it')).to.equal(2);
      write(one);
      await clock.advance(3_600_000);
      expect(logged('certificate expired: clients refuse it')).to.equal(2);
    });

    it('logs that it is not valid yet', () => {
      follow(issued([HOST], [1, 2]));
      expect(logged('certificate not valid yet: clients refuse it')).to.equal(1);
    });

    it('is not read any more after the end', async () => {
      follow(one);
      stop();
      write(two);
      await clock.advance(5 * FILES_CHECK_MS);
      expect(used).to.deep.equal([]);
    });
  });
});
