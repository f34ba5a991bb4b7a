/** What the signature of a component proves, and what it does not. */
import { generateKeyPairSync } from 'node:crypto';
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

  it('is accepted with a digest in capitals, and in the other media type of its kind', () => {
    const document = withSignature(component, keys, { algorithm: 'RSASSA-PSS' });
    const [first] = document['signatures'] as { digest: { value: string }; signature: object }[];
    const digest = { ...first!.digest, value: first!.digest.value.toUpperCase() };
    const signature = { ...first!.signature, mediaType: 'application/vnd.ocm.signature.rsa-pss' };
    verify({ ...document, signatures: [{ ...first, digest, signature }] });
  });

  it('with a key for this padding alone is accepted, and one with another kind of key is not', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    verify(withSignature(component, { privateKey }, { algorithm: 'RSASSA-PSS' }), { publicKey: publicPem });
    expect(refused(withSignature(component, keys), { publicKey: publicPem })).to.contain(
      'cannot be checked with the given key: ',
    );
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const curvePem = curve.export({ type: 'spki', format: 'pem' }) as string;
    expect(refused(withSignature(component, keys), { publicKey: curvePem })).to.contain('needs an RSA key');
  });

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

    it("is rejected if the authority was not yet valid, or no longer valid, when the signer's certificate started", () => {
      const caCert = made('CertSign', 2025);
      const answer = (year: number): string =>
        refused(signed(made('CodeSigning', year, { caCert, caPrivateKey })), { caCertificates: caCert });
      expect(answer(2024)).to.contain('was not issued by the given authorities');
      expect(answer(2027)).to.contain('was not issued by the given authorities');
      expect(answer(2025)).not.to.contain('was not issued by the given authorities');
    });

    describe('of which one does not fit', () => {
      const NOT_ISSUED = 'was not issued by the given authorities';
      const caCert = made('CertSign', 2025);
      const leafOf = (more: object = {}, usage = 'CodeSigning'): string =>
        made(usage, 2025, { caCert, caPrivateKey, ...more });

      it('is accepted as far as certificates matter if all fit', () => {
        expect(refused(signed(leafOf()), { caCertificates: caCert })).to.contain('needs an RSA key');
        const middle = made('CertSign', 2025, { caCert, caPrivateKey, commonName: 'middle' });
        const leaf = leafOf({ caCert: middle });
        expect(refused(signed(leaf, middle), { caCertificates: caCert })).to.contain('needs an RSA key');
      });

      it('is rejected if the issuer is not an authority, though an authority certifies it', () => {
        const middle = leafOf({ commonName: 'no authority' });
        const leaf = leafOf({ caCert: middle });
        expect(refused(signed(leaf, middle), { caCertificates: caCert })).to.contain(NOT_ISSUED);
        expect(refused(signed(leaf), { caCertificates: middle })).to.contain(NOT_ISSUED);
      });

      it('is rejected if another authority has the name of the issuer, or its key', () => {
        const stranger = call('x509genkey', 'P256');
        const sameName = made('CertSign', 2025, { privateKey: stranger });
        expect(refused(signed(leafOf()), { caCertificates: sameName })).to.contain(NOT_ISSUED);
        const sameKey = made('CertSign', 2025, { commonName: 'another' });
        expect(refused(signed(leafOf()), { caCertificates: sameKey })).to.contain(NOT_ISSUED);
      });

      it('is accepted if the usage of the signer is any, or if it is an authority of its own', () => {
        expect(refused(signed(leafOf({}, 'Any')), { caCertificates: caCert })).to.contain('needs an RSA key');
        const leaf = leafOf();
        expect(refused(signed(leaf), { caCertificates: leaf })).to.contain('needs an RSA key');
      });

      it('is accepted through many intermediates, of which each has its own key, and not if one is missing', () => {
        const chain: string[] = [];
        let above = { caCert, caPrivateKey };
        for (let i = 0; i < 12; i++) {
          const key = call('x509genkey', 'P256');
          const next = made('CertSign', 2025, { ...above, privateKey: key, commonName: `m${String(i)}` });
          chain.push(next);
          above = { caCert: next, caPrivateKey: key };
        }
        const leaf = made('CodeSigning', 2025, above);
        expect(refused(signed(leaf, ...chain), { caCertificates: caCert })).to.contain('needs an RSA key');
        expect(
          refused(signed(leaf, ...chain.slice(0, 4), ...chain.slice(5)), { caCertificates: caCert }),
        ).to.contain(NOT_ISSUED);
      });

      it('is rejected soon, however often an intermediate is repeated that certifies itself', () => {
        const copies = Array.from({ length: 32 }, () => caCert);
        const stranger = made('CertSign', 2025, { commonName: 'stranger' });
        expect(refused(signed(leafOf(), ...copies), { caCertificates: stranger })).to.contain(NOT_ISSUED);
        expect(refused(signed(leafOf(), ...copies, caCert), { caCertificates: caCert })).to.contain(
          'has more than 32 certificates beside that of the signer',
        );
      });

      it('is rejected if the certificate of the signer is not for signing code', () => {
        expect(refused(signed(leafOf({}, 'ServerAuth')), { caCertificates: caCert })).to.contain(NOT_ISSUED);
      });
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
