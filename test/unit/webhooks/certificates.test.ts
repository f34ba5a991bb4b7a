import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { createAuthority, issueCertificate, type KeyPair } from '../../../src/lib/certificates.ts';
import { renewal, type Certificates } from '../../../src/runtime/webhooks/certificates.ts';
import { certificatesIn } from '../../support/webhooks.ts';
import { render } from '../templating/gotemplate/support.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const HOSTS = ['hooks', 'hooks.demo', 'hooks.demo.svc'];

/** Short keys are created quickly; a few are enough, because only neighbours must differ. */
const pairs = Array.from({ length: 8 }, () => generateKeyPairSync('rsa', { modulusLength: 1024 }));
let used = 0;
const newKeys = (): Promise<KeyPair> => Promise.resolve(pairs[used++ % pairs.length] as KeyPair);
const issuing = { commonName: 'landscaper-webhook', newKeys };

const made = async (): Promise<Certificates> => {
  const { certificates } = (await renewal(undefined, HOSTS, NOW, issuing)) ?? {};
  if (!certificates) throw new Error('none were made');
  return certificates;
};
const after = (stored: Certificates, days: number, hosts = HOSTS) =>
  renewal(stored, hosts, NOW + days * DAY, issuing);
const authorities = ({ caBundle }: Certificates): string[] =>
  certificatesIn(caBundle).map(({ fingerprint256 }) => fingerprint256);
/** Whether a client that trusts `bundle` accepts the server certificate. */
const isTrusted = ({ certificate }: Certificates, bundle: Certificates): boolean =>
  certificatesIn(bundle.caBundle).some((ca) => new X509Certificate(certificate).verify(ca.publicKey));

const authorityOf = ({ caBundle, caKey }: Certificates) => ({ caBundle, caKey });

describe('certificates of the webhooks', () => {
  it('are issued if there are none, for all names', async () => {
    const { certificate } = await made();
    for (const host of HOSTS) expect(new X509Certificate(certificate).checkHost(host)).to.equal(host);
  });

  it('are valid for two thirds of their life', async () => {
    const stored = await made();
    expect(await after(stored, 0)).to.equal(undefined);
    expect(await after(stored, 240)).to.equal(undefined);
    expect((await after(stored, 250))?.why).to.equal('the certificate expires soon');
  });

  it('come from the same authority again', async () => {
    const stored = await made();
    const next = (await after(stored, 250))?.certificates as Certificates;
    expect(next.caBundle).to.equal(stored.caBundle);
    expect(next.certificate).to.not.equal(stored.certificate);
    expect(isTrusted(next, stored)).to.equal(true);
  });

  it('are reissued for a name that they do not have, but not for an optional one', async () => {
    const stored = await made();
    expect((await after(stored, 1, [...HOSTS, 'other']))?.why).to.equal(
      'the certificate is not valid for other',
    );
    expect(await after(stored, 1, ['hooks'])).to.equal(undefined);
  });

  it('are trusted through all changes of the authority, also by a client that is one change behind', async () => {
    let stored = await made();
    const seen = new Set(authorities(stored));
    for (let day = 0; day < 30 * 365; day += 30) {
      const next = (await after(stored, day))?.certificates;
      if (!next) continue;
      expect(isTrusted(next, stored), `day ${day}, new certificate and old bundle`).to.equal(true);
      expect(isTrusted(stored, next), `day ${day}, old certificate and new bundle`).to.equal(true);
      expect(authorities(next).length).to.be.at.most(2);
      for (const authority of authorities(next)) seen.add(authority);
      stored = next;
    }
    expect(seen.size).to.be.greaterThan(3);
  });

  it('do not outlive their authority', async () => {
    const authority = createAuthority('webhook-ca', { from: NOW - 100 * DAY, until: NOW + 200 * DAY });
    const stored = { ...(await made()), caBundle: authority.certificate, caKey: authority.key };
    const { certificate } = (await after(stored, 0))?.certificates as Certificates;
    expect(Date.parse(new X509Certificate(certificate).validTo)).to.equal(NOW + 200 * DAY);
  });

  it('come from an authority that is valid now even if the old one was issued by a clock that was ahead', async () => {
    const early = await renewal(undefined, HOSTS, NOW + 30 * DAY, issuing);
    const stored = early?.certificates as Certificates;
    const renewed = await after(stored, 0);
    expect(renewed?.why).to.equal('the certificate authority is not valid yet');
    const next = renewed?.certificates as Certificates;
    const server = new X509Certificate(next.certificate);
    const issuer = certificatesIn(next.caBundle).find((ca) => server.verify(ca.publicKey));
    expect(Date.parse(issuer?.validFrom ?? '')).to.be.at.most(NOW);
    expect(Date.parse(server.validFrom)).to.be.at.most(NOW);
    expect(authorities(next)).to.include.members(authorities(stored));
    expect(await after(next, 0)).to.equal(undefined);
  });

  it('are reissued if only that of the server is not valid yet', async () => {
    const stored = await made();
    const early = issueCertificate({ certificate: stored.caBundle }, createPrivateKey(stored.caKey), {
      commonName: 'early',
      usage: 'server',
      hosts: HOSTS,
      validity: { from: NOW + DAY, until: NOW + 300 * DAY },
    });
    const next = (await after({ ...stored, ...early }, 0))?.certificates as Certificates;
    expect(Date.parse(new X509Certificate(next.certificate).validFrom)).to.be.at.most(NOW);
    expect(next.caBundle).to.equal(stored.caBundle);
  });

  const unusable: readonly (readonly [string, () => Promise<Partial<Certificates>>, string])[] = [
    [
      'the authority is missing',
      () => Promise.resolve({ caBundle: '' }),
      'the certificate authority is missing, unreadable or expired',
    ],
    [
      'the authority is not a certificate',
      () => Promise.resolve({ caBundle: 'nonsense' }),
      'the certificate authority is missing, unreadable or expired',
    ],
    [
      'the key does not belong to the authority',
      async () => ({ caKey: (await made()).caKey }),
      'the certificate authority is missing, unreadable or expired',
    ],
    [
      'the certificate is missing',
      () => Promise.resolve({ certificate: '' }),
      'the certificate is missing or unreadable',
    ],
    [
      'its key is another one',
      async () => ({ key: (await made()).key }),
      'the certificate is missing or unreadable',
    ],
    [
      'the signer is unknown',
      async () => authorityOf(await made()),
      'the certificate authority of the certificate no longer exists',
    ],
  ];
  for (const [title, change, why] of unusable) {
    it(`are reissued if ${title}`, async () => {
      const stored = { ...(await made()), ...(await change()) };
      const next = await after(stored, 1);
      expect(next?.why).to.equal(why);
      expect(await after(next?.certificates as Certificates, 1)).to.equal(undefined);
    });
  }

  it('have RSA keys in PKCS#1, which upstream reads, also for the server', async () => {
    const { caKey, key } = await made();
    for (const text of [caKey, key]) expect(text).to.match(/^-----BEGIN RSA PRIVATE KEY-----/);
  });

  it('with other keys are replaced, and trusted meanwhile', async () => {
    const authority = createAuthority('webhook-ca', { from: NOW - DAY, until: NOW + 3650 * DAY });
    const server = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'landscaper-webhook',
      usage: 'server',
      hosts: HOSTS,
      validity: { from: NOW - DAY, until: NOW + 365 * DAY },
    });
    const stored = { caBundle: authority.certificate, caKey: authority.key, ...server };
    const renewed = await after(stored, 0);
    expect(renewed?.why).to.equal('the key is not an RSA key');
    const next = renewed?.certificates as Certificates;
    expect(isTrusted(next, stored) && isTrusted(stored, next)).to.equal(true);
    expect(createPrivateKey(next.caKey).asymmetricKeyType).to.equal('rsa');
    expect(createPrivateKey(next.key).asymmetricKeyType).to.equal('rsa');
    expect(await after(next, 0)).to.equal(undefined);
    const onlyServer = { ...stored, certificate: next.certificate, key: next.key };
    expect((await after(onlyServer, 0))?.why).to.equal('the key is not an RSA key');
  });

  it('of upstream are used as they are, and continued', async () => {
    const [ca = '', caKey = '', certificate = '', key = ''] = render(
      '{{ $ca := genCA "webhook-ca" 3650 }}{{ $c := genSignedCert "landscaper-webhook" (list) (list "hooks" "hooks.demo" "hooks.demo.svc") 3650 $ca }}' +
        '{{ $ca.Cert }}|{{ $ca.Key }}|{{ $c.Cert }}|{{ $c.Key }}',
    ).split('|');
    const stored = { caBundle: ca, caKey, certificate, key };
    expect(await after(stored, 0)).to.equal(undefined);
    const next = (await after(stored, 0, [...HOSTS, 'other']))?.certificates as Certificates;
    expect(next.caBundle.trim()).to.equal(ca.trim());
    expect(isTrusted(next, stored)).to.equal(true);
  });
});
