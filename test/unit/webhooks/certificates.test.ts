import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { renewal, type Certificates } from '../../../src/webhooks/certificates.ts';
import { certificatesIn } from '../../support/webhooks.ts';
import { render } from '../templating/gotemplate/support.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const HOSTS = ['hooks', 'hooks.demo', 'hooks.demo.svc'];

const made = (): Certificates => {
  const { certificates } = renewal(undefined, HOSTS, NOW) ?? {};
  if (!certificates) throw new Error('none were made');
  return certificates;
};
const after = (stored: Certificates, days: number, hosts = HOSTS) => renewal(stored, hosts, NOW + days * DAY);
const authorities = ({ caBundle }: Certificates): string[] =>
  certificatesIn(caBundle).map(({ fingerprint256 }) => fingerprint256);
/** Whether a client that trusts `bundle` accepts the server certificate. */
const isTrusted = ({ certificate }: Certificates, bundle: Certificates): boolean =>
  certificatesIn(bundle.caBundle).some((ca) => new X509Certificate(certificate).verify(ca.publicKey));

const authorityOf = ({ caBundle, caKey }: Certificates) => ({ caBundle, caKey });

describe('certificates of the webhooks', () => {
  it('are issued if there are none, for all names', () => {
    const { certificate } = made();
    for (const host of HOSTS) expect(new X509Certificate(certificate).checkHost(host)).to.equal(host);
  });

  it('are valid for two thirds of their life', () => {
    const stored = made();
    expect(after(stored, 0)).to.equal(undefined);
    expect(after(stored, 240)).to.equal(undefined);
    expect(after(stored, 250)?.why).to.equal('the certificate expires soon');
  });

  it('come from the same authority again', () => {
    const stored = made();
    const next = after(stored, 250)?.certificates as Certificates;
    expect(next.caBundle).to.equal(stored.caBundle);
    expect(next.certificate).to.not.equal(stored.certificate);
    expect(isTrusted(next, stored)).to.equal(true);
  });

  it('are reissued for a name that they do not have, but not for an optional one', () => {
    const stored = made();
    expect(after(stored, 1, [...HOSTS, 'other'])?.why).to.equal('it is not valid for other');
    expect(after(stored, 1, ['hooks'])).to.equal(undefined);
  });

  it('are trusted through all changes of the authority, also by a client that is one change behind', () => {
    let stored = made();
    const seen = new Set(authorities(stored));
    for (let day = 0; day < 30 * 365; day += 30) {
      const next = after(stored, day)?.certificates;
      if (!next) continue;
      expect(isTrusted(next, stored), `day ${day}, new certificate and old bundle`).to.equal(true);
      expect(isTrusted(stored, next), `day ${day}, old certificate and new bundle`).to.equal(true);
      expect(authorities(next).length).to.be.at.most(2);
      for (const authority of authorities(next)) seen.add(authority);
      stored = next;
    }
    expect(seen.size).to.be.greaterThan(3);
  });

  it('do not outlive their authority', () => {
    const authority = createAuthority('webhook-ca', { from: NOW - 100 * DAY, until: NOW + 200 * DAY });
    const stored = { ...made(), caBundle: authority.certificate, caKey: authority.key };
    const { certificate } = after(stored, 0)?.certificates as Certificates;
    expect(Date.parse(new X509Certificate(certificate).validTo)).to.equal(NOW + 200 * DAY);
  });

  it('come from an authority that is valid now even if the old one was issued by a clock that was ahead', () => {
    const stored = renewal(undefined, HOSTS, NOW + 30 * DAY)?.certificates as Certificates;
    const renewed = after(stored, 0);
    expect(renewed?.why).to.equal('the certificate authority is not valid yet');
    const next = renewed?.certificates as Certificates;
    const server = new X509Certificate(next.certificate);
    const issuer = certificatesIn(next.caBundle).find((ca) => server.verify(ca.publicKey));
    expect(Date.parse(issuer?.validFrom ?? '')).to.be.at.most(NOW);
    expect(Date.parse(server.validFrom)).to.be.at.most(NOW);
    expect(authorities(next)).to.include.members(authorities(stored));
    expect(after(next, 0)).to.equal(undefined);
  });

  it('are reissued if only that of the server is not valid yet', () => {
    const stored = made();
    const early = issueCertificate({ certificate: stored.caBundle }, createPrivateKey(stored.caKey), {
      commonName: 'early',
      usage: 'server',
      hosts: HOSTS,
      validity: { from: NOW + DAY, until: NOW + 300 * DAY },
    });
    const next = after({ ...stored, ...early }, 0)?.certificates as Certificates;
    expect(Date.parse(new X509Certificate(next.certificate).validFrom)).to.be.at.most(NOW);
    expect(next.caBundle).to.equal(stored.caBundle);
  });

  const unusable: readonly (readonly [string, Partial<Certificates>, string])[] = [
    [
      'the authority is missing',
      { caBundle: '' },
      'the certificate authority is missing, unreadable or expired',
    ],
    [
      'the authority is not a certificate',
      { caBundle: 'nonsense' },
      'the certificate authority is missing, unreadable or expired',
    ],
    [
      'the key does not belong to the authority',
      { caKey: made().caKey },
      'the certificate authority is missing, unreadable or expired',
    ],
    ['the certificate is missing', { certificate: '' }, 'the certificate is missing or unreadable'],
    ['its key is another one', { key: made().key }, 'the certificate is missing or unreadable'],
    ['the signer is unknown', authorityOf(made()), 'its certificate authority no longer exists'],
  ];
  for (const [title, change, why] of unusable) {
    it(`are reissued if ${title}`, () => {
      const stored = { ...made(), ...change };
      const next = after(stored, 1);
      expect(next?.why).to.equal(why);
      expect(after(next?.certificates as Certificates, 1)).to.equal(undefined);
    });
  }

  it('of upstream are used as they are, and continued', () => {
    const [ca = '', caKey = '', certificate = '', key = ''] = render(
      '{{ $ca := genCA "webhook-ca" 3650 }}{{ $c := genSignedCert "landscaper-webhook" (list) (list "hooks" "hooks.demo" "hooks.demo.svc") 3650 $ca }}' +
        '{{ $ca.Cert }}|{{ $ca.Key }}|{{ $c.Cert }}|{{ $c.Key }}',
    ).split('|');
    const stored = { caBundle: ca, caKey, certificate, key };
    expect(renewal(stored, HOSTS, NOW)).to.equal(undefined);
    const next = renewal(stored, [...HOSTS, 'other'], NOW)?.certificates as Certificates;
    expect(next.caBundle.trim()).to.equal(ca.trim());
    expect(isTrusted(next, stored)).to.equal(true);
  });
});
