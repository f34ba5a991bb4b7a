import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { render } from '../templating/gotemplate/support.ts';

const validity = { from: Date.UTC(2026, 0, 1), until: Date.UTC(2051, 0, 1) };
const hosts = ['hook.demo.svc', '10.1.2.3', 'fd00::1'];

/**
 * An authority with an RSA key, created by another tool: its name is encoded differently, and its key id is another
 * hash.
 */
function foreignAuthority(): { readonly certificate: string; readonly key: string } {
  const [certificate = '', key = ''] = render(
    '{{ $ca := genCA "webhook-ca" 365 }}{{ $ca.Cert }}|{{ $ca.Key }}',
  ).split('|');
  return { certificate, key };
}

describe('a certificate', () => {
  const authority = createAuthority('hook-ca', validity);
  const signer = createPrivateKey(authority.key);
  const leaf = issueCertificate(authority, signer, { commonName: 'hook', usage: 'server', hosts, validity });
  const parsed = new X509Certificate(leaf.certificate);
  const ca = new X509Certificate(authority.certificate);

  it('is signed by its authority and belongs to its key', () => {
    expect(parsed.verify(ca.publicKey)).to.equal(true);
    expect(parsed.checkIssued(ca)).to.equal(true);
    expect(parsed.checkPrivateKey(createPrivateKey(leaf.key))).to.equal(true);
    expect(ca.ca).to.equal(true);
    expect(parsed.ca).to.equal(false);
  });

  it('is valid for the requested time, also beyond 2050', () => {
    expect(Date.parse(parsed.validFrom)).to.equal(validity.from);
    expect(Date.parse(parsed.validTo)).to.equal(validity.until);
  });

  it('names hosts by name and by address', () => {
    expect(parsed.checkHost('hook.demo.svc')).to.equal('hook.demo.svc');
    expect(parsed.checkIP('10.1.2.3')).to.equal('10.1.2.3');
    expect(parsed.checkIP('fd00::1')).to.equal('fd00::1');
    expect(parsed.checkHost('other.demo.svc')).to.equal(undefined);
  });

  it('can be issued by an authority with an RSA key that another tool created', () => {
    const foreign = foreignAuthority();
    const key = createPrivateKey(foreign.key);
    const issued = issueCertificate(foreign, key, { commonName: 'hook', usage: 'server', hosts, validity });
    const issuer = new X509Certificate(foreign.certificate);
    expect(new X509Certificate(issued.certificate).checkIssued(issuer)).to.equal(true);
    expect(new X509Certificate(issued.certificate).verify(issuer.publicKey)).to.equal(true);
  });
});
