/** The media type of a blob whose access does not have one: from its layer, or from its content. */
import { expect } from 'chai';
import { blueprintArchives, unpackBlueprint } from '../../../src/blueprint/resources.ts';
import {
  buildArtifact,
  mediaTypes,
  parseManifest,
  type ArtifactStore,
} from '../../../src/components/artifact.ts';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { sha256 } from '../../../src/components/digest.ts';
import { ociRepository } from '../../../src/components/oci-repository.ts';
import type { Repository } from '../../../src/components/repository.ts';
import { ComponentView, withContents } from '../../../src/components/view.ts';
import { packed } from '../../../src/lib/gzip.ts';
import { isTar, writeTar } from '../../../src/lib/tar.ts';
import { descriptor } from '../../support/components.ts';

const TAR = writeTar([['blueprint.yaml', Buffer.from('kind: Blueprint')]]);
const UNSPECIFIC = 'application/octet-stream';
const nowhere = {
  registry: () => {
    throw new Error('no registry is needed');
  },
};

/** A component in a registry whose only layer is `content`. */
function inRegistry(layer: string, content: Uint8Array): Repository {
  const blob = { mediaType: layer, content };
  const { manifest, blobs } = buildArtifact({ mediaType: 'a/config', content: Buffer.from('{}') }, [blob]);
  const store: ArtifactStore = {
    name: 'a registry',
    artifact: () => Promise.resolve(parseManifest(manifest, 'a component')),
    blob: (_, { digest }) => Promise.resolve(blobs.get(digest) ?? new Uint8Array()),
  };
  return ociRepository({ store, prefix: '', mapping: 'urlPath', context: {}, name: 'a registry' });
}
const inFiles = (content: Uint8Array): Repository => ({
  name: 'files',
  context: {},
  find: () => Promise.resolve(undefined),
  localBlob: () => Promise.resolve({ bytes: content }),
});
const viewOn = (repository: Repository, access: object) => {
  const resource = { name: 'bp', version: '1', type: 'blueprint', access };
  const component = readDescriptor(descriptor('a.b/c', '1', [resource]));
  const resolved = { all: [{ component, repository }], targets: new Map(), unverified: [] };
  return new ComponentView({ kind: 'inline', document: {} }, resolved, nowhere);
};
const accessOf = (type: string, content: Uint8Array): object =>
  type === 'localOciBlob' ? { type, digest: sha256(content) } : { type, localReference: sha256(content) };

describe('a blueprint whose access has no media type', () => {
  const rows: readonly (readonly [string, Uint8Array, (content: Uint8Array) => Repository])[] = [
    ['has that of its layer', TAR, (content) => inRegistry(mediaTypes.blueprintTgz, content)],
    ['is recognised in an unspecific layer, as tar', TAR, (content) => inRegistry(UNSPECIFIC, content)],
    [
      'is recognised in an unspecific layer, as gzip',
      packed(TAR),
      (content) => inRegistry(UNSPECIFIC, content),
    ],
    ['is recognised in a file, as tar', TAR, inFiles],
    ['is recognised in a file, as gzip', packed(TAR), inFiles],
  ];
  for (const type of ['localOciBlob', 'localBlob']) {
    for (const [title, content, repository] of rows) {
      it(`${title}: ${type}`, async () => {
        const view = viewOn(repository(content), accessOf(type, content));
        const place = view.resolve({ path: [], resource: { name: 'bp' } });
        const archives = await withContents(view, () => blueprintArchives(view, place));
        const tree = await unpackBlueprint(archives, place);
        expect(tree.list('')?.map(({ name }) => name)).to.deep.equal(['blueprint.yaml']);
      });
    }
  }

  it('is rejected if it is not an archive', async () => {
    const content = Buffer.from('kind: Blueprint');
    const view = viewOn(inRegistry(UNSPECIFIC, content), accessOf('localOciBlob', content));
    const place = view.resolve({ path: [], resource: { name: 'bp' } });
    const error = await withContents(view, () => blueprintArchives(view, place)).catch(
      (each: unknown) => each,
    );
    expect(error).to.have.property('message').that.contains(UNSPECIFIC);
  });
});

describe('a tar archive', () => {
  it('is recognised by the header of its first entry', () => {
    expect(isTar(TAR)).to.equal(true);
    for (const other of [packed(TAR), TAR.subarray(0, 100), new Uint8Array(1024), Buffer.alloc(1024, 'text')])
      expect(isTar(other)).to.equal(false);
  });
});
