/** Normal forms of descriptors, compared with digests that the tools of the component model have computed. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { readDescriptor, type Component } from '../../../src/components/descriptor.ts';
import { ContentInvalid } from '../../../src/components/errors.ts';
import { componentDigest, normalised } from '../../../src/components/normalise.ts';

const V1 = 'jsonNormalisation/v1';
const V2 = 'jsonNormalisation/v2';
const V3 = 'jsonNormalisation/v3';

const digest = (normalisationAlgorithm: string, value: string) => ({
  hashAlgorithm: 'SHA-256',
  normalisationAlgorithm,
  value,
});
const v2 = (component: object): Component =>
  readDescriptor({
    meta: { schemaVersion: 'v2' },
    component: { componentReferences: [], repositoryContexts: [], resources: [], sources: [], ...component },
  });
const text = (name: string, version: string, type: string, blob: string) => ({
  name,
  version,
  type,
  relation: 'local',
  access: { type: 'localBlob', localReference: `sha256:${blob}`, mediaType: 'text/plain' },
  digest: digest('genericBlobDigest/v1', blob),
});

const empty = v2({ name: 'test.de/x', version: 'v1', provider: 'mandelsoft' });
const withText = v2({
  name: 'test.de/x',
  version: 'v1',
  provider: 'mandelsoft',
  resources: [
    text('test', 'v1', 'plainText', '810ff2fb242a5dee4220f2cb0e6a519891fb67f2f828a6cab4ef8894633b1f50'),
  ],
});
const IDS = [
  '6a1c7637a528ab5957ab60edf73b5298a0a03de02a96be0313ee89b22544840c',
  'd1187ac17793b2f5fa26175c21cabb6ce388871ae989e16ff9a38bd6b32507bf',
  '6229be2be7e328f74ba595d93b814b590b1aa262a1b85e49cc1492795a9e564c',
] as const;
const labelled = v2({
  name: 'github.com/vasu1124/introspect',
  version: '1.0.0',
  provider: 'internal',
  repositoryContexts: [{ type: 'ociRegistry', baseUrl: 'ghcr.io/vasu1124/ocm' }],
  resources: [
    {
      ...text('introspect-image', '1.0.0', 'ociImage', IDS[0]),
      digest: digest('ociArtifactDigest/v1', IDS[0]),
      labels: [
        { name: 'label1', value: 'foo' },
        { name: 'label2', value: 'bar', signing: true, mergeAlgorithm: 'test' },
      ],
    },
    text('introspect-blueprint', '1.0.0', 'landscaper.gardener.cloud/blueprint', IDS[1]),
    {
      ...text('introspect-helm', '0.1.0', 'helm', IDS[2]),
      relation: 'external',
      digest: digest('ociArtifactDigest/v1', IDS[2]),
    },
    {
      name: 'none',
      version: 'v1',
      type: 'plainText',
      relation: 'local',
      access: { type: 'none' },
      digest: digest('y', 'z'),
    },
  ],
  sources: [{ name: 'introspect', type: 'git', version: '1.0.0', access: { type: 'git', repository: 'x' } }],
});

describe('the digest of a component descriptor', () => {
  const rows: readonly [string, Component, string, string][] = [
    ['nothing in it', empty, V1, '37f7f500d87f4b0a8765649f7c047db382e272b73e042805131df57279991b2b'],
    ['nothing in it', empty, V2, '33aeb8c46ea4bacbf0bc3ac42c186c7f5e313584601a93bf861c016d73c9e4f1'],
    ['nothing in it', empty, V3, '33aeb8c46ea4bacbf0bc3ac42c186c7f5e313584601a93bf861c016d73c9e4f1'],
    ['a string', withText, V2, '6e8e9eb0af1c4c0b9dcc4161168b3f0ad913bc85e4234688dd6d4b283fe4b956'],
    ['labels and sources', labelled, V1, 'ff3972a8ae51cb46bcd6b3d074c17f735d07dbee0f6c063a639659343290a35a'],
    ['labels and sources', labelled, V2, '069fb24a291788bb94e3e308057ebf58e467988393764e3e8860184b32806c63'],
  ];
  for (const [what, component, form, expected] of rows) {
    it(`with ${what} is upstream's in ${form}`, () => {
      const algorithms = { hashAlgorithm: 'SHA-256', normalisationAlgorithm: form };
      expect(componentDigest(component, algorithms), normalised(component, form)).to.equal(expected);
    });
  }

  it('of a newer descriptor keeps its own form in the older normal form', () => {
    const component = readDescriptor({
      apiVersion: 'ocm.software/v3alpha1',
      kind: 'ComponentVersion',
      metadata: { name: 'a.b/c', version: '1.0.0', provider: { name: 'internal' } },
      spec: {},
    });
    expect(normalised(component, V1)).to.equal(
      '[{"apiVersion":"ocm.software/v3alpha1"},{"kind":"ComponentVersion"},{"metadata":[{"name":"a.b/c"},{"provider":[{"name":"internal"}]},{"version":"1.0.0"}]},{"spec":[]}]',
    );
  });

  it('distinguishes resources of the same name by their versions, except for the last', () => {
    const twice = v2({
      name: 'a.b/c',
      version: '1',
      provider: 'p',
      resources: ['1', '2'].map((version) => text('r', version, 't', IDS[0])),
    });
    expect(normalised(twice, V2))
      .to.contain('"extraIdentity":{"version":"1"}')
      .and.not.contain('"extraIdentity":{"version":"2"}');
    expect(normalised(twice, V3)).not.to.contain('extraIdentity');
  });

  it('covers everything that is signed, but not locations', () => {
    const algorithms = { hashAlgorithm: 'SHA-512', normalisationAlgorithm: V2 };
    const of = (component: Component): string => componentDigest(component, algorithms);
    const [resource] = withText.resources;
    const moved = {
      ...withText,
      resources: [{ ...resource!, access: { type: 'ociBlob', ref: 'elsewhere' } }],
    };
    const renamed = { ...withText, resources: [{ ...resource!, name: 'other' }] };
    expect(of(moved)).to.equal(of(withText));
    expect(of(renamed)).not.to.equal(of(withText));
    expect(of(withText)).to.equal(createHash('sha512').update(normalised(withText, V2)).digest('hex'));
  });

  it('is rejected for unknown forms and hashes', () => {
    const wrong = (normalisationAlgorithm: string, hashAlgorithm: string) => () =>
      componentDigest(empty, { normalisationAlgorithm, hashAlgorithm });
    expect(wrong('jsonNormalisation/v9', 'SHA-256')).to.throw(ContentInvalid, 'jsonNormalisation/v9');
    expect(wrong('constructor', 'SHA-256')).to.throw(ContentInvalid, 'not a supported normalisation');
    expect(wrong(V1, 'MD5')).to.throw(ContentInvalid, 'MD5');
  });
});
