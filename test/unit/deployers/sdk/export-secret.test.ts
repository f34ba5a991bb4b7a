import { expect } from 'chai';
import { mockDeployer } from '../../../../deployers/mock/index.ts';
import { done, type DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { Forbidden } from '../../../../src/runtime/errors.ts';
import { Bench, LS, mockConfig } from '../bench.ts';
import type { Any } from '../fake-cluster.ts';

const refusal = new Forbidden({
  message: 'secrets are not wanted here',
  status: 403,
  reason: 'Forbidden',
  ref: { verb: 'create', kind: 'Secret' },
});

async function refused(): Promise<Bench> {
  const bench = new Bench(mockDeployer());
  bench.giveItem(mockConfig({ export: { a: 1 } }), { type: `${LS}/mock`, target: null });
  bench.host.fail = (verb, what) => {
    if (verb === 'create' && what.startsWith('Secret')) throw refusal;
  };
  await bench.kick('j1');
  return bench;
}

describe('an export secret that cannot be written', () => {
  it('is reported at the item and retried after a while', async () => {
    const bench = await refused();
    expect(bench.status().lastError?.message).to.contain('secrets are not wanted here');
    expect(bench.status().jobIDFinished).to.equal(undefined);
    bench.host.fail = () => undefined;
    await bench.pass(10_000);
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().lastError).to.equal(undefined);
  });

  it('does not keep an item that is deleted meanwhile', async () => {
    const bench = await refused();
    await bench.delete();
    await bench.pass(10_000);
    expect(bench.isGone()).to.equal(true);
  });
});

describe('exports that are removed from a configuration', () => {
  async function exported(): Promise<{ bench: Bench; secret: string }> {
    const bench = new Bench(mockDeployer());
    bench.giveItem(mockConfig({ export: { a: 1 } }), { type: `${LS}/mock`, target: null });
    await bench.kick('j1');
    return { bench, secret: `proj/${bench.status().exportRef?.name ?? ''}` };
  }

  it('delete their secret, and the status no longer names it', async () => {
    const { bench, secret } = await exported();
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status()).to.include({ phase: 'Succeeded', jobIDFinished: 'j2' });
    expect(bench.status().exportRef).to.equal(undefined);
    expect(bench.host.find('Secret', secret)).to.equal(undefined);
  });

  it('stay until the job that removes them has succeeded', async () => {
    const { bench, secret } = await exported();
    bench.configure(mockConfig({ phase: 'Failed' }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().exportRef?.name).to.equal(secret.split('/')[1]);
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
  });

  it('do not delete a secret of another owner, whatever the status says', async () => {
    const { bench, secret } = await exported();
    const { ownerReferences: _, ...metadata } = bench.host.find('Secret', secret)?.metadata ?? { name: '' };
    bench.host.drop('Secret', secret);
    bench.host.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { mine: 'eA==' } });
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().exportRef).to.equal(undefined);
    expect(bench.host.find('Secret', secret)).to.not.equal(undefined);
  });

  const restored = [
    [
      'was written for an earlier item of the name, as after a restore',
      [
        {
          apiVersion: `${LS}/v1alpha1`,
          kind: 'DeployItem',
          name: 'web',
          uid: 'earlier',
        },
      ],
    ],
    ['lost its owner', []],
  ] as const;
  for (const [what, ownerReferences] of restored) {
    it(`are deleted if their secret ${what}, by the same rule that lets the item write it`, async () => {
      const { bench, secret } = await exported();
      const { metadata, ...rest } = bench.host.find('Secret', secret) ?? { metadata: { name: '' } };
      bench.host.drop('Secret', secret);
      bench.host.put({
        apiVersion: 'v1',
        kind: 'Secret',
        ...rest,
        metadata: { ...metadata, ownerReferences: [...ownerReferences] },
      });
      bench.configure(mockConfig({ export: null }));
      await bench.kick('j2');
      expect(bench.status().exportRef).to.equal(undefined);
      expect(bench.host.find('Secret', secret)).to.equal(undefined);
    });
  }

  it('do not fail the job if their secret is already gone', async () => {
    const { bench, secret } = await exported();
    bench.host.drop('Secret', secret);
    bench.configure(mockConfig({ export: null }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(bench.status().exportRef).to.equal(undefined);
  });
});

describe('a secret with the name of the exports', () => {
  const type = `${LS}/container`;
  /** Exports what it is told to, into `web-export`. */
  const exporting = (): DeployerPlugin => ({
    ...mockDeployer(),
    type,
    apply: () => Promise.resolve(done({ exports: { value: { k: 'v' } } })),
    remove: () => Promise.resolve(done()),
  });
  const theirs = { mine: 'eA==' };
  const secretWith = (metadata: object, data: object = theirs): Any => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'web-export', namespace: 'proj', ...metadata },
    data,
  });
  const found = (bench: Bench) => bench.host.find('Secret', 'proj/web-export');
  const valueIn = (bench: Bench): string => {
    const { config = '' } = found(bench)?.['data'] as { config?: string };
    return Buffer.from(config, 'base64').toString();
  };
  const owner = (uid: string, name = 'web') => ({
    apiVersion: `${LS}/v1alpha1`,
    kind: 'DeployItem',
    name,
    uid,
  });

  async function job(secret: (bench: Bench) => Any, exportRef?: object): Promise<Bench> {
    const bench = new Bench(exporting());
    bench.giveItem(mockConfig(), { type, target: null });
    if (exportRef) bench.host.edit('DeployItem', 'proj/web', { status: { exportRef } });
    bench.host.put(secret(bench));
    await bench.kick('j1');
    return bench;
  }
  const named = { name: 'web-export', namespace: 'proj' };

  const foreign: readonly (readonly [string, Any, object?])[] = [
    ['a user created', secretWith({})],
    ['looks like exports but has no owner', secretWith({}, { config: 'e30=' })],
    ['belongs to another item', secretWith({ ownerReferences: [owner('u', 'other')] }, { config: 'e30=' })],
    ['a user created in the place of the exports', secretWith({}), named],
    [
      'another owner has in the place of the exports',
      secretWith({ ownerReferences: [owner('u', 'b')] }),
      named,
    ],
  ];
  for (const [what, secret, exportRef] of foreign) {
    it(`is not changed if it is one that ${what}, and the job fails with its name`, async () => {
      const bench = await job(() => secret, exportRef);
      const { phase, lastError, jobIDFinished } = bench.status();
      expect([phase, jobIDFinished]).to.deep.equal(['Failed', 'j1']);
      expect(lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(lastError?.message)
        .to.contain('secret proj/web-export exists and does not belong to deploy item proj/web')
        .and.contain('delete or rename the secret, or rename the deploy item');
      expect(found(bench)?.['data']).to.deep.equal(secret['data']);
      expect(found(bench)?.metadata.ownerReferences).to.deep.equal(secret.metadata.ownerReferences);
      await bench.delete();
      await bench.kick('j2');
      expect(bench.isGone()).to.equal(true);
      expect(found(bench)?.['data']).to.deep.equal(secret['data']);
    });
  }

  it('does not fail the job any more after it was removed', async () => {
    const bench = await job(() => secretWith({}));
    bench.host.drop('Secret', 'proj/web-export');
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(valueIn(bench)).to.equal('{"k":"v"}');
  });

  const ours: readonly (readonly [string, (bench: Bench) => Any, object?])[] = [
    [
      'an upstream deployer wrote',
      (bench) =>
        secretWith({ ownerReferences: [owner(bench.item().metadata.uid ?? '')] }, { config: 'e30=' }),
    ],
    [
      'was written for an earlier item of the name',
      () => secretWith({ ownerReferences: [owner('earlier')] }, { config: 'e30=' }),
    ],
    ['the status names and that lost its owner', () => secretWith({}, { config: 'e30=' }), named],
  ];
  for (const [what, secret, exportRef] of ours) {
    it(`is written if it is one that ${what}`, async () => {
      const bench = await job(secret, exportRef);
      expect(bench.status().phase).to.equal('Succeeded');
      expect(valueIn(bench)).to.equal('{"k":"v"}');
      const owners = found(bench)?.metadata.ownerReferences;
      expect(owners?.map(({ uid }) => uid)).to.deep.equal([bench.item().metadata.uid]);
    });
  }

  it('keeps additional owners', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'cm' };
    const bench = await job((b) =>
      secretWith({ ownerReferences: [other, owner(b.item().metadata.uid ?? '')] }, { config: 'e30=' }),
    );
    expect(found(bench)?.metadata.ownerReferences?.map(({ name }) => name)).to.deep.equal(['c', 'web']);
  });
});
