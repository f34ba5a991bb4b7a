import { expect } from 'chai';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { secureRng } from '../../../../src/lib/secure-rng.ts';
import { BcryptError, bcryptHash, bcryptMatches } from '../../../../src/templating/go/bcrypt.ts';
import { FakeClock } from '../../../support/clock.ts';
import { failure, render } from './support.ts';

interface Pair {
  readonly Cert: string;
  readonly Key: string;
}

const pairs = (text: string): Record<string, Pair> =>
  JSON.parse(render(text, {}, { clock: new FakeClock('2026-01-01T00:00:00Z') })) as Record<string, Pair>;

describe('certificates created by templates', () => {
  it('are signed by the authority that they name', () => {
    const { ca, server } = pairs(
      '{{ $ca := genCAWithKey "root" 10 (genPrivateKey "ecdsa") }}{{ $s := genSignedCertWithKey "web" (list "10.0.0.1" "fe80::1") (list "a.example") 5 $ca (genPrivateKey "ed25519") }}{{ toJson (dict "ca" $ca "server" $s) }}',
    );
    const root = new X509Certificate(ca?.Cert ?? '');
    const cert = new X509Certificate(server?.Cert ?? '');
    expect(cert.verify(root.publicKey)).to.equal(true);
    expect(cert.checkIssued(root)).to.equal(true);
    expect([root.ca, cert.ca]).to.deep.equal([true, false]);
    expect(cert.subject).to.equal('CN=web');
    expect(cert.checkHost('a.example')).to.equal('a.example');
    expect([cert.checkIP('10.0.0.1'), cert.checkIP('fe80::1')]).to.deep.equal(['10.0.0.1', 'fe80::1']);
    expect([cert.validFrom, cert.validTo]).to.deep.equal([
      'Jan  1 00:00:00 2026 GMT',
      'Jan  6 00:00:00 2026 GMT',
    ]);
    expect(cert.checkPrivateKey(createPrivateKey(server?.Key ?? ''))).to.equal(true);
  });

  it('can be self-signed with an RSA key', () => {
    const { c } = pairs('{{ toJson (dict "c" (genSelfSignedCert "self" (list) (list "h.example") 1)) }}');
    const cert = new X509Certificate(c?.Cert ?? '');
    expect(cert.verify(cert.publicKey)).to.equal(true);
    expect(c?.Key).to.match(/^-----BEGIN RSA PRIVATE KEY-----/);
  });

  it('can be created from existing keys', () => {
    const { a, b } = pairs(
      '{{ $a := genCAWithKey "x" 1 (genPrivateKey "ecdsa") }}{{ toJson (dict "a" $a "b" (buildCustomCert (b64enc $a.Cert) (b64enc $a.Key))) }}',
    );
    expect(b).to.deep.equal(a);
  });

  it('reject invalid addresses and keys', () => {
    expect(
      failure('{{ genSelfSignedCertWithKey "x" (list "1.2.3") (list) 1 (genPrivateKey "ecdsa") }}', {}),
    ).to.contain('error parsing ip: 1.2.3');
    expect(failure('{{ genCAWithKey "x" 1 "no key" }}', {})).to.contain('no PEM data in input');
  });
});

describe('bcrypt', () => {
  it('makes the hash that others accept', () => {
    const hash = bcryptHash('secret', Buffer.from('0123456789abcdef'), 10);
    expect(hash).to.equal('$2a$10$KBCwKxOzLha2MUDgW0PjXe5iC0KgerkTIWLGUoONajjj98vdFiyt2');
  });

  it('knows hashes that others made', () => {
    const digest = 'KBCwKxOzLha2MUDgW0PjXe5iC0KgerkTIWLGUoONajjj98vdFiyt2';
    for (const version of ['$2$', '$2a$', '$2b$', '$2x$', '$2y$']) {
      expect(bcryptMatches('secret', `${version}10$${digest}`), version).to.equal(true);
      expect(bcryptMatches('Secret', `${version}10$${digest}`), version).to.equal(false);
    }
    for (const known of [`$2a$03$${digest}`, `$2a$99$${digest}`, `$2a$10$${digest}x`, digest, '']) {
      expect(bcryptMatches('secret', known), known).to.equal(false);
    }
  });

  it('looks at 72 bytes of the password that it compares, and refuses to hash more', () => {
    const [salt, long] = [Buffer.alloc(16), 'ä'.repeat(36)];
    expect(bcryptMatches(`${long}more`, bcryptHash(long, salt, 4))).to.equal(true);
    expect(() => bcryptHash(`${long}x`, salt, 4)).to.throw(BcryptError, 'length exceeds 72 bytes');
    expect(render(`{{ bcrypt "${long}x" }}`, {})).to.equal(
      'failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes',
    );
  });

  it('returns a hash that other tools accept', () => {
    expect(render('{{ bcrypt (b64dec "/w==") }}', {})).to.equal(
      'failed to encrypt string with bcrypt: the password is not valid UTF-8',
    );
  });

  it('fails, and returns no text for a password, if there are no random numbers', () => {
    const next = (): number => {
      throw new Error('no random numbers');
    };
    expect(() => render('{{ bcrypt "p" }}', {}, { rng: { next } })).to.throw('no random numbers');
  });

  it('returns what htpasswd writes after the name', () => {
    expect(render('{{ htpasswd "u" "p" }}', {})).to.match(/^u:\$2a\$10\$[./A-Za-z0-9]{53}$/);
    expect(render('{{ htpasswd "a:b" "p" }}', {})).to.equal('invalid username: a:b');
  });
});

describe('random numbers for secrets', () => {
  it('are uniform in [0, 1)', () => {
    const numbers = Array.from({ length: 2000 }, () => secureRng.next());
    expect(numbers.every((n) => n >= 0 && n < 1)).to.equal(true);
    expect(new Set(numbers).size).to.equal(2000);
    const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
    expect(mean).to.be.within(0.45, 0.55);
  });
});
