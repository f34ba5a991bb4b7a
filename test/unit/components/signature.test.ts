/** What the signature of a component proves, and what it does not. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { SignatureInvalid } from '../../../src/components/errors.ts';
import { verifySignature, type Trust } from '../../../src/components/signature.ts';
import { descriptor, reference } from '../../support/components.ts';
import { call } from '../templating/spiff/functions/support.ts';
import type { SpiffValue } from '../../../src/templating/spiff/value.ts';
import { keyPair, withSignature, type SigningOptions } from '../../support/signing.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/signing/${name}.pem`, import.meta.url), 'utf8');
const CERTIFICATES = {
  authority: fixture('authority'),
  intermediate: fixture('intermediate'),
  leaf: fixture('signer'),
  stranger: fixture('stranger'),
};
const keys = keyPair();
const other = keyPair();
const DIGEST = {
  hashAlgorithm: 'SHA-256',
  normalisationAlgorithm: 'genericBlobDigest/v1',
  value: 'a'.repeat(64),
};
const text = {
  name: 'text',
  version: '1.0.0',
  type: 'plainText',
  relation: 'local',
  digest: DIGEST,
  access: { type: 'localBlob', localReference: 'x', mediaType: 'text/plain' },
};
const component = descriptor('example.org/a', '1.0.0', [text]);
const verify = (document: object, trust: Trust = { publicKey: keys.publicKey }, name = 'release') => {
  verifySignature(readDescriptor(document), name, trust);
};
const refused = (document: object, trust?: Trust, name?: string): string => {
  try {
    verify(document, trust, name);
  } catch (error) {
    expect(error).to.be.instanceOf(SignatureInvalid);
    return (error as Error).message;
  }
  return 'accepted';
};

describe('a signature of a component', () => {
  const kinds: readonly SigningOptions[] = [
    {},
    { form: 'jsonNormalisation/v1' },
    { form: 'jsonNormalisation/v3' },
    { algorithm: 'RSASSA-PSS' },
  ];
  for (const kind of kinds) {
    it(`is accepted with ${kind.form ?? kind.algorithm ?? 'the usual algorithms'}`, () => {
      verify(withSignature(component, keys, kind));
    });
  }

  it('stays valid after a move to another repository', () => {
    const signed = withSignature(component, keys);
    const moved = {
      ...signed,
      component: { ...signed.component, repositoryContexts: [{ type: 'OCIRegistry', baseUrl: 'elsewhere' }] },
    };
    verify(moved);
  });

  it('is invalid after a change of what it covers', () => {
    const signed = withSignature(component, keys);
    const changed = {
      ...signed,
      component: {
        ...signed.component,
        resources: [{ ...text, digest: { ...DIGEST, value: 'b'.repeat(64) } }],
      },
    };
    expect(refused(changed)).to.match(
      /^signature release of component example\.org\/a:1\.0\.0 is for another descriptor: .*[0-9a-f]{64}.*[0-9a-f]{64}/,
    );
  });

  const rows: readonly [string, object, Trust | undefined, string][] = [
    ['by another signer', withSignature(component, other), undefined, 'does not belong to the given key'],
    ['that is missing', component, undefined, 'is not there; the component has none'],
    [
      'of another name',
      withSignature(component, keys, { name: 'draft' }),
      undefined,
      'is not there; the component has draft',
    ],
    [
      'that does not cover a content',
      withSignature(descriptor('example.org/a', '1.0.0', [{ ...text, digest: null }]), keys),
      undefined,
      'does not cover resource text',
    ],
    [
      'that does not cover a reference',
      withSignature(descriptor('example.org/a', '1.0.0', [], [reference('leaf', 'b.org/b', '1')]), keys),
      undefined,
      'does not cover reference leaf',
    ],
    ['without a key', withSignature(component, keys), {}, 'neither a public key nor authorities'],
    ['with an invalid key', withSignature(component, keys), { publicKey: 'key' }, 'is not a PEM'],
    [
      'without a certificate if authorities are trusted',
      withSignature(component, keys),
      { caCertificates: CERTIFICATES.authority },
      'has no certificate',
    ],
  ];
  for (const [title, document, trust, message] of rows) {
    it(`${title} is rejected: ${message}`, () => {
      expect(refused(document, trust)).to.contain(message);
    });
  }

  it('with an unknown algorithm is rejected, and the message lists the known ones', () => {
    const signed = withSignature(component, keys);
    const [first] = signed['signatures'] as { signature: object }[];
    const strange = {
      ...signed,
      signatures: [{ ...first, signature: { ...first!.signature, algorithm: 'sigstore' } }],
    };
    expect(refused(strange)).to.contain('uses the algorithm sigstore').and.contain('RSASSA-PKCS1-V1_5');
  });

  describe('with certificates', () => {
    const signed = (...certificates: string[]) => {
      const value = [fixture('signature'), ...certificates].join('');
      return withSignature(component, keys, { asPem: () => value });
    };
    const trust = { caCertificates: CERTIFICATES.authority };

    it('is accepted if an authority certifies the signer, directly or through intermediates', () => {
      verify(signed(CERTIFICATES.leaf, CERTIFICATES.intermediate), trust);
      verify(signed(CERTIFICATES.leaf), { caCertificates: CERTIFICATES.intermediate });
      verify(signed(CERTIFICATES.leaf), { publicKey: CERTIFICATES.leaf });
    });

    it("is rejected if the authority was not yet valid, or no longer valid, when the signer's certificate started", () => {
      const caPrivateKey = call('x509genkey', 'P256');
      const made = (usage: string, year: number, more: object = {}): string =>
        call(
          'x509cert',
          new Map<string, SpiffValue>(
            Object.entries({
              usage: [usage],
              organization: ['ACME'],
              commonName: usage,
              privateKey: caPrivateKey,
              validFrom: `Jan 1 00:00:00 ${String(year)}`,
              ...more,
            }),
          ),
        ) as string;
      const caCert = made('CertSign', 2025);
      const answer = (year: number): string =>
        refused(signed(made('CodeSigning', year, { caCert, caPrivateKey })), { caCertificates: caCert });
      expect(answer(2024)).to.contain('was not issued by the given authorities');
      expect(answer(2027)).to.contain('was not issued by the given authorities');
      expect(answer(2025)).not.to.contain('was not issued by the given authorities');
    });

    it('is rejected if the chain has a gap, or ends at another authority', () => {
      const gap = refused(signed(CERTIFICATES.leaf), trust);
      expect(gap).to.contain('was not issued by the given authorities');
      const stranger = refused(signed(CERTIFICATES.leaf, CERTIFICATES.intermediate), {
        caCertificates: CERTIFICATES.stranger,
      });
      expect(stranger).to.contain('was not issued by the given authorities');
    });
  });
});
