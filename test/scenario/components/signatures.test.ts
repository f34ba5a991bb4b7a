/** Installations whose components must be signed, and contents that differ from the descriptor. */
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { sha256 } from '../../../src/components/digest.ts';
import { componentDigest } from '../../../src/components/normalise.ts';
import { writeTar } from '../../../src/lib/tar.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { BLUEPRINT_TAR, LABEL, blob, descriptor, reference, seeing } from '../../support/components.ts';
import { blueprint, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { keyPair, withSignature } from '../../support/signing.ts';

const keys = keyPair();
const NORMAL = { hashAlgorithm: 'SHA-256', normalisationAlgorithm: 'jsonNormalisation/v2' };
const digestOf = (content: string | Uint8Array) => ({
  hashAlgorithm: 'SHA-256',
  normalisationAlgorithm: 'genericBlobDigest/v1',
  value: sha256(Buffer.from(content)).slice('sha256:'.length),
});
const SUB = JSON.stringify(blueprint({}));
const text = (content = 'hello\n') => ({
  ...blob('text', 'plainText', 'text/plain', 'text.txt'),
  digest: digestOf(content),
});
const subBlueprint = blob('sub-bp', 'landscaper.gardener.cloud/blueprint', BLUEPRINT_TAR, 'sub');
const leafWith = (more: object) => descriptor('example.org/leaf', '0.1.0', [{ ...subBlueprint, ...more }]);
const leaf = leafWith({ digest: digestOf(writeTar(new Map([['blueprint.yaml', Buffer.from(SUB)]]))) });
const leafDigest = { ...NORMAL, value: componentDigest(readDescriptor(leaf), NORMAL) };
/** As if an attacker had removed the digest of the content, so that any other content would do. */
const stripped = leafWith({});
const bare = descriptor('example.org/bare', '0.1.0', []);
const bareDigest = { ...NORMAL, value: componentDigest(readDescriptor(bare), NORMAL) };
const rootWith = (
  resource: object,
  digest: object = bareDigest,
  forLeaf: Record<string, unknown> = { digest: leafDigest },
) =>
  descriptor(
    'example.org/root',
    '1.0.0',
    [resource],
    [
      reference('bare', 'example.org/bare', '0.1.0', { digest }),
      reference('leaf', 'example.org/leaf', '0.1.0', forLeaf),
    ],
  );

const installation = (component: object, spec: object, itsLeaf: object) =>
  root('shop', {
    spec: {
      exports: { data: [{ name: 'seen', dataRef: 'seen' }] },
      componentDescriptor: {
        ref: {
          repositoryContext: {
            type: 'inline',
            compDescDirPath: 'comps',
            blobDirPath: 'blobs',
            fileSystem: {
              comps: {
                'root.yaml': { $type: 'yaml', value: component },
                'leaf.yaml': { $type: 'yaml', value: itsLeaf },
                'bare.yaml': { $type: 'yaml', value: bare },
              },
              blobs: { 'text.txt': 'hello\n', sub: { 'blueprint.yaml': SUB } },
            },
          },
          componentName: 'example.org/root',
          version: '1.0.0',
        },
      },
      blueprint: {
        inline: {
          filesystem: {
            'blueprint.yaml': JSON.stringify(
              seeing('{{ getResourceContent "cd://resources/text" | quote }}'),
            ),
          },
        },
      },
      ...spec,
    },
  });

/** A blueprint with a sub-installation from the leaf, which has no signature of its own. */
const WITH_SUB = {
  blueprint: {
    inline: {
      filesystem: {
        'blueprint.yaml': JSON.stringify(
          seeing('{{ getResourceContent "cd://resources/text" | quote }}', {
            subinstallations: [
              { name: 'sub', blueprint: { ref: 'cd://componentReferences/leaf/resources/sub-bp' } },
            ],
          }),
        ),
      },
    },
  },
};
const SIGNED = { verification: { signatureName: 'release' }, context: 'trusting' };

function scenes(here: ReturnType<typeof useCluster>) {
  const create = (scene: Scene, kind: Kind, object: object): Promise<Obj> => {
    const { metadata } = object as Obj;
    const placed = { ...object, metadata: { ...metadata, namespace: scene.ns } } as Obj;
    return here.cluster.client.send({ verb: 'create', kind, object: placed });
  };
  /** A Context that trusts our key. */
  const trusting = async (scene: Scene): Promise<void> => {
    const data = { 'key.pem': Buffer.from(keys.publicKey).toString('base64') };
    await create(scene, secretKind, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'release-key' },
      data,
    });
    await create(scene, contextKind, {
      apiVersion: API_VERSION,
      kind: 'Context',
      metadata: { name: 'trusting' },
      verificationSignatures: {
        release: { publicKeySecretReference: { name: 'release-key', key: 'key.pem' } },
        foreign: { publicKeySecretReference: { name: 'release-key', namespace: 'elsewhere' } },
        lost: { publicKeySecretReference: { name: 'nowhere' } },
        nothing: {},
      },
    });
  };
  const run = async (
    component: object,
    spec: object,
    phase: 'Succeeded' | 'Failed',
    itsLeaf: object = leaf,
  ) => {
    const scene = await here.scene();
    await trusting(scene);
    await scene.create(installation(component, spec, itsLeaf));
    const { status } = await scene.finished('shop', phase);
    return { scene, error: status?.lastError };
  };
  return {
    succeeds: async (component: object, spec: object = SIGNED, itsLeaf?: object): Promise<void> => {
      const { scene } = await run(component, spec, 'Succeeded', itsLeaf);
      expect(scene.dataObject('seen')?.data).to.equal('hello\n');
    },
    errorOf: async (component: object, spec: object = SIGNED, itsLeaf?: object) =>
      (await run(component, spec, 'Failed', itsLeaf)).error,
  };
}

describe('an installation that requires a signed component', () => {
  const here = useCluster();
  const { succeeds, errorOf } = scenes(here);
  const good = rootWith(text());

  it('succeeds with a component that is signed with the key in the Context', async () => {
    await succeeds(withSignature(good, keys));
  });

  it("accepts a sub-installation whose component has no signature of that name, because the root's signature covers it", async () => {
    await succeeds(withSignature(good, keys), { ...SIGNED, ...WITH_SUB });
  });

  const refusals: readonly [string, () => object, object, string, string][] = [
    [
      'is not signed',
      () => good,
      SIGNED,
      'VerifySignature',
      'signature release of component example.org/root:1.0.0 is not there',
    ],
    [
      'is signed with another key',
      () => withSignature(good, keyPair()),
      SIGNED,
      'VerifySignature',
      'does not belong to the given key',
    ],
    [
      'was changed after it was signed',
      () => ({ ...withSignature(good, keys), component: rootWith(text('other')).component }),
      SIGNED,
      'VerifySignature',
      'is for another descriptor',
    ],
    [
      'is signed under a name that the Context does not have',
      () => withSignature(good, keys),
      { ...SIGNED, verification: { signatureName: 'draft' } },
      'ExtractVerifyInfo',
      "has no entry 'draft' in verificationSignatures",
    ],
    [
      'cannot be checked because the secret is missing',
      () => withSignature(good, keys, { name: 'lost' }),
      { ...SIGNED, verification: { signatureName: 'lost' } },
      'ExtractVerifyInfo',
      'nowhere, which cannot be found',
    ],
    [
      'cannot be checked because the secret is in another namespace',
      () => withSignature(good, keys, { name: 'foreign' }),
      { ...SIGNED, verification: { signatureName: 'foreign' } },
      'ExtractVerifyInfo',
      'references secret elsewhere/release-key of another namespace; copy the secret to namespace',
    ],
    [
      'cannot be checked because the Context names no key',
      () => withSignature(good, keys, { name: 'nothing' }),
      { ...SIGNED, verification: { signatureName: 'nothing' } },
      'ExtractVerifyInfo',
      'names neither a public key nor authorities',
    ],
  ];
  for (const [title, component, spec, reason, message] of refusals) {
    it(`fails when the component ${title}`, async () => {
      const error = await errorOf(component(), spec);
      expect(error).to.include({ operation: 'InitPrerequisites', reason });
      expect(error?.message).to.contain(message);
      expect(error?.message).not.to.contain('BEGIN PUBLIC KEY');
    });
  }

  it('fails if a content is not the signed one', async () => {
    const error = await errorOf(withSignature(rootWith(text('what it was')), keys));
    const [expected, found] = ['what it was', 'hello\n'].map((content) => digestOf(content).value);
    expect(error?.message)
      .to.contain('resource text of component example.org/root:1.0.0 is damaged')
      .and.contain(`its digest is sha256:${found ?? ''}, expected sha256:${expected ?? ''}`);
  });

  const notReached: readonly [string, () => object, object][] = [
    ['has lost a digest', () => withSignature(good, keys), stripped],
    [
      'is replaced by a descriptor without digests in a label that is not signed',
      () => {
        const signed = withSignature(good, keys, { form: 'jsonNormalisation/v1' });
        const nested = { digest: leafDigest, labels: [{ name: LABEL, value: stripped }] };
        return { ...signed, component: rootWith(text(), bareDigest, nested).component };
      },
      leaf,
    ],
  ];
  for (const [title, component, itsLeaf] of notReached) {
    it(`fails if a component below ${title}`, async () => {
      const error = await errorOf(component(), SIGNED, itsLeaf);
      expect(error).to.include({ operation: 'InitPrerequisites', reason: 'VerifySignature' });
      expect(error?.message).to.contain(
        'signature release of component example.org/root:1.0.0 does not cover all components: the digests of reference leaf of component example.org/root:1.0.0 to example.org/leaf:0.1.0 cannot be compared',
      );
    });
  }
});

describe('an installation', () => {
  const here = useCluster();
  const { succeeds, errorOf } = scenes(here);

  it('needs no signature unless it is required', async () => {
    await succeeds(rootWith(text()), {});
    await succeeds(rootWith(text()), {}, stripped);
  });

  it('fails if a reference leads to a component that does not match its digest', async () => {
    const error = await errorOf(rootWith(text(), { ...bareDigest, value: 'c'.repeat(64) }), {});
    expect(error?.message).to.contain(
      'reference bare of component example.org/root:1.0.0 refers to a different example.org/bare:0.1.0',
    );
    expect(error?.message).to.contain(`its digest is ${bareDigest.value}, expected ${'c'.repeat(64)}`);
  });
});

describe('if all components must be signed', () => {
  const here = useCluster({ config: { verification: 'Enforce' } });
  const { succeeds, errorOf } = scenes(here);

  it('an installation with a signed component succeeds', async () => {
    await succeeds(withSignature(rootWith(text()), keys));
  });

  it('a sub-installation needs a signature of its own', async () => {
    const error = await errorOf(withSignature(rootWith(text()), keys), { ...SIGNED, ...WITH_SUB });
    expect(error?.message).to.contain('signature release of component example.org/leaf:0.1.0 is not there');
  });

  it('an installation that names no signature fails, and the message says what to name', async () => {
    const error = await errorOf(withSignature(rootWith(text()), keys), {});
    expect(error).to.include({ operation: 'InitPrerequisites', reason: 'ExtractVerifyInfo' });
    expect(error?.message).to.contain('spec.verification.signatureName must name the signature');
  });
});

describe('if signatures are disabled', () => {
  const here = useCluster({ config: { verification: 'Disabled' } });
  const { succeeds } = scenes(here);

  it('an installation that requires one succeeds without', async () => {
    await succeeds(rootWith(text()));
  });
});
