/** Where contents of resources are read from, and the errors for those that cannot be read. */
import { expect } from 'chai';
import { fetchResource, type AccessPorts } from '../../../src/components/access.ts';
import { buildArtifact, type ArtifactStore } from '../../../src/components/artifact.ts';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { sha256 } from '../../../src/components/digest.ts';
import {
  BlobMissing,
  ComponentProblem,
  ContentInvalid,
  RegistryUnavailable,
} from '../../../src/components/errors.ts';
import { inspect } from '../../../src/components/inspect.ts';
import { artifactContent } from '../../../src/components/oci-repository.ts';
import type { Repository } from '../../../src/components/repository.ts';
import { resolveAll, type ComponentLimits } from '../../../src/components/resolve.ts';
import { ComponentView, withContents } from '../../../src/components/view.ts';
import { packed } from '../../../src/lib/gzip.ts';
import { writeTar } from '../../../src/lib/tar.ts';
import { descriptor, reference } from '../../support/components.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const HELLO = sha256(bytes('hello'));

const repository = (blobs: Readonly<Record<string, Uint8Array>>): Repository => ({
  name: 'here',
  context: {},
  find: () => Promise.resolve(undefined),
  localBlob: (_, name) =>
    blobs[name]
      ? Promise.resolve({ bytes: blobs[name] })
      : Promise.reject(new BlobMissing(`no blob ${name}`)),
});
const registry = (blob: Uint8Array): AccessPorts => ({
  registry: () => ({
    name: 'a registry',
    artifact: () => Promise.resolve(undefined),
    blob: () => Promise.resolve(blob),
  }),
});
const nowhere = registry(bytes('from the registry'));

const fetched = (resource: object, blobs: Readonly<Record<string, Uint8Array>> = {}, ports = nowhere) => {
  const document = descriptor('a.b/c', '1', [{ name: 'r', type: 't', ...resource }]);
  const component = readDescriptor(document);
  return fetchResource({ component, repository: repository(blobs) }, component.resources[0]!, ports);
};
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was wrong',
    (error: unknown) => {
      expect(error).to.be.instanceOf(ComponentProblem);
      return (error as Error).message;
    },
  );
const digest = (normalisationAlgorithm: string, value: string, hashAlgorithm = 'SHA-256') => ({
  digest: { hashAlgorithm, normalisationAlgorithm, value: value.replace('sha256:', '') },
});
const LOCAL = { access: { type: 'localBlob', localReference: 'x', mediaType: 'text/plain' } };

describe('the access of a resource', () => {
  const unreadable: readonly [string, string][] = [
    ['none', 'has no content'],
    ['gitHub', 'GitHub'],
    ['github/v1', 'GitHub'],
    ['git', 'git'],
    ['helm/v1', 'Helm chart repository'],
    ['wget', 'on the web'],
    ['web', 'on the web'],
    ['s3', 'S3 bucket'],
    ['npm', 'npm package'],
    ['maven', 'Maven'],
    ['ocm', 'another component'],
    ['toString', 'access of type toString is unknown'],
    ['carrier-pigeon', 'access of type carrier-pigeon is unknown'],
  ];
  for (const [type, message] of unreadable) {
    it(`of type ${type} is rejected with a remedy`, async () => {
      const said = await refusal(fetched({ access: { type, repoUrl: 'x' } }));
      expect(said)
        .to.match(/^resource r of component a\.b\/c:1 /)
        .and.contain(message);
    });
  }

  it('may fall back to another location if a local blob is missing', async () => {
    const globalAccess = { type: 'ociBlob', ref: 'example.org/r', digest: sha256(bytes('hello')) };
    const access = { ...LOCAL.access, globalAccess };
    const content = await fetched({ access }, {}, registry(bytes('hello')));
    expect(content).to.include({ kind: 'blob' });
    const looping = { ...LOCAL.access, globalAccess: LOCAL.access };
    expect(await refusal(fetched({ access: looping }))).to.contain('no blob x');
    const elsewhere = { ...LOCAL.access, globalAccess: { type: 'localBlob', localReference: 'y' } };
    expect(await refusal(fetched({ access: elsewhere }, { y: bytes('other') }))).to.contain('no blob x');
    const unavailable: AccessPorts = {
      registry: () => ({
        name: 'a registry',
        artifact: () => Promise.resolve(undefined),
        blob: () => Promise.reject(new RegistryUnavailable('the registry is not available')),
      }),
    };
    // A retry may find the content there.
    expect(await refusal(fetched({ access }, {}, unavailable))).to.contain('not available');
    const unreadable = { ...LOCAL.access, globalAccess: { type: 'wget' } };
    expect(await refusal(fetched({ access: unreadable }))).to.contain('no blob x');
  });

  it('does not fall back if a local blob is damaged', async () => {
    const globalAccess = { type: 'ociBlob', ref: 'example.org/r', digest: HELLO };
    const component = readDescriptor(
      descriptor('a.b/c', '1', [{ name: 'r', type: 't', access: { ...LOCAL.access, globalAccess } }]),
    );
    const damaged: Repository = {
      ...repository({}),
      localBlob: () => Promise.reject(new ContentInvalid('blob x is damaged')),
    };
    const found = { component, repository: damaged };
    expect(await refusal(fetchResource(found, component.resources[0]!, nowhere))).to.contain('is damaged');
    const { problems } = await inspect(found, undefined);
    expect(problems).to.deep.equal(['blob x is damaged']);
  });
});

describe('the digest of a resource', () => {
  const blobs = { x: bytes('hello') };
  const generic = (value: string, hash?: string) => ({
    ...LOCAL,
    ...digest('genericBlobDigest/v1', value, hash),
  });

  for (const hash of ['SHA-256', 'sha256']) {
    it(`is compared if its algorithm is ${hash}`, async () => {
      expect(await fetched(generic(HELLO, hash), blobs)).to.include({ kind: 'blob' });
      const message = await refusal(fetched(generic('0'.repeat(64), hash), blobs));
      expect(message).to.equal(
        `resource r of component a.b/c:1 is damaged: its digest is ${HELLO}, expected sha256:${'0'.repeat(64)}`,
      );
    });
  }

  it('may be written in capitals', async () => {
    const [algorithm = '', hex = ''] = HELLO.split(':');
    expect(await fetched(generic(`${algorithm}:${hex.toUpperCase()}`), blobs)).to.include({ kind: 'blob' });
  });

  it('may be omitted on purpose', async () => {
    const none = digest('EXCLUDE-FROM-SIGNATURE', 'NO-DIGEST', 'NO-DIGEST');
    expect(await fetched({ ...LOCAL, ...none }, blobs)).to.include({ kind: 'blob' });
  });

  it('of a kind that cannot be compared is rejected', async () => {
    expect(await refusal(fetched({ ...LOCAL, ...digest('ociArtifactDigest/v9', HELLO) }, blobs))).to.contain(
      'with the normalisation ociArtifactDigest/v9, which cannot be compared with a blob',
    );
    expect(await refusal(fetched(generic(HELLO, 'MD5'), blobs))).to.contain('with the algorithm MD5');
  });

  describe('of an artifact stored as a blob', () => {
    const artifact = buildArtifact({ mediaType: 'a/config', content: bytes('{}') }, [
      { mediaType: 'a/layer', content: bytes('layer') },
    ]);
    const archive = (change: (files: Map<string, Uint8Array>) => void = () => undefined): Uint8Array => {
      const index = { schemaVersion: 2, manifests: [{ digest: artifact.digest }] };
      const files = new Map<string, Uint8Array>([
        ['index.json', bytes(JSON.stringify(index))],
        [`blobs/${artifact.digest.replace(':', '.')}`, artifact.manifest],
        ...[...artifact.blobs].map(
          ([name, content]) => [`blobs/${name.replace(':', '/')}`, content] as const,
        ),
      ]);
      change(files);
      return packed(writeTar(files));
    };
    const resource = { ...LOCAL, ...digest('ociArtifactDigest/v1', artifact.digest) };

    it('is that of its manifest, which covers everything in it', async () => {
      expect(await fetched(resource, { x: archive() })).to.include({ kind: 'blob' });
    });

    const layer = `blobs/${sha256(bytes('layer')).replace(':', '/')}`;
    const rows: readonly [string, Uint8Array, string][] = [
      [
        'has another digest',
        archive((f) => f.set('index.json', bytes('{"manifests": [{"digest": "sha256:0"}]}'))),
        'no blob',
      ],
      ['has a modified layer', archive((f) => f.set(layer, bytes('other'))), 'is damaged'],
      ['has a missing layer', archive((f) => f.delete(layer)), 'has no blob'],
      ['has no index', archive((f) => f.delete('index.json')), 'is not an artifact archive'],
      ['is not a valid archive', bytes('hello'), 'is not an artifact archive'],
    ];
    for (const [title, blob, message] of rows) {
      it(`does not match if the archive ${title}`, async () => {
        expect(await refusal(fetched(resource, { x: blob }))).to.contain(message);
      });
    }
  });
});

describe('reading components', () => {
  it('ends if components refer to each other', async () => {
    const circle = (name: string, to: string) =>
      readDescriptor(descriptor(name, '1', [], [reference('next', to, '1')]));
    const all = [circle('a.b/a', 'a.b/b'), circle('a.b/b', 'a.b/c'), circle('a.b/c', 'a.b/a')] as const;
    const place: Repository = {
      ...repository({}),
      find(name) {
        const component = all.find((one) => one.name === name);
        return Promise.resolve(component && { component, repository: this });
      },
    };
    const lookup = { open: () => Promise.resolve(place), resolvers: [], overwrites: [] };
    const resolved = await resolveAll({ component: all[0], repository: place }, { type: 'x' }, lookup);
    expect(resolved.all.map(({ component }) => component.name)).to.deep.equal(['a.b/a', 'a.b/b', 'a.b/c']);
  });

  /** Each component refers to the next. */
  const endless = (bytes: number): Repository => ({
    ...repository({}),
    find(name, version) {
      const next = reference('next', name, String(Number(version) + 1));
      const component = readDescriptor(descriptor(name, version, [], [next]));
      return Promise.resolve({ component, repository: this, bytes });
    },
  });
  const chain = async (bytes: number, limits?: ComponentLimits): Promise<string> => {
    const place = endless(bytes);
    const lookup = {
      open: () => Promise.resolve(place),
      resolvers: [],
      overwrites: [],
      ...(limits && { limits }),
    };
    const first = await place.find('a.b/c', '1');
    return refusal(resolveAll(first!, { type: 'x' }, lookup));
  };

  it('ends if each component refers to one more', async () => {
    expect(await chain(100)).to.equal(
      'component a.b/c:1 and the components that it references exceed 2000 components, the limit for one installation; limits.components in the configuration raises it',
    );
    expect(await chain(100, { components: 7, componentsMiB: 8 })).to.contain('exceed 7 components');
  });

  it('ends if the descriptors together are too large', async () => {
    expect(await chain(2 ** 20)).to.equal(
      'component a.b/c:1 and the components that it references exceed 8 MiB of descriptors, the limit for one installation; limits.componentsMiB in the configuration raises it',
    );
    expect(await chain(2 ** 20, { components: 7, componentsMiB: 3 })).to.contain('exceed 3 MiB');
  });

  it('has a limit for all contents that one installation reads', async () => {
    const resource = (name: string) => ({ ...LOCAL, name, type: 't', version: '1' });
    const component = readDescriptor(descriptor('a.b/c', '1', [resource('one'), resource('two')]));
    const found = { component, repository: repository({ x: bytes('123456') }) };
    const resolved = { all: [found], targets: new Map(), unverified: [] };
    const source = { kind: 'inline', document: {} } as const;
    const view = new ComponentView(source, resolved, { ...nowhere, maxContentBytes: 10 });
    const read = (name: string) => {
      const place = view.resolve({ path: [], resource: { name } });
      return withContents(view, () => view.content(place));
    };
    expect(await read('one')).to.have.property('kind', 'blob');
    expect(await refusal(read('two'))).to.equal(
      'the contents of resources that the blueprint of one installation uses have more than 10 bytes together; limits.downloadMiB in the configuration raises this limit',
    );
  });

  it('has a limit for all layers of an artifact together', async () => {
    const large = new Uint8Array(50 * 2 ** 20);
    const layer = { mediaType: 'a/layer', digest: HELLO, size: 1 };
    const store: ArtifactStore = {
      name: 'a registry',
      artifact: () =>
        Promise.resolve({ digest: HELLO, config: layer, layers: Array.from({ length: 1000 }, () => layer) }),
      blob: () => Promise.resolve(large),
    };
    expect(await refusal(artifactContent(store, 'team/huge', '1'))).to.contain(
      'team/huge in a registry has layers of more than 134217728 bytes together',
    );
  });
});
