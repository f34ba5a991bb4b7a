/** Which requests the secret with the exports of an item costs, and what becomes of the job when they are refused. */
import { expect } from 'chai';
import { writeExports } from '../../../../deployers/sdk/export-secret.ts';
import { done, fail, retry, wait, type Outcome } from '../../../../deployers/sdk/index.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { item } from '../../../support/given.ts';
import { LS } from '../bench.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';

const web = item('exec', 'web');
const owner = { apiVersion: `${LS}/v1alpha1`, kind: 'DeployItem', name: 'exec-web-x', uid: 'uid-exec-web-x' };
const exporting = done({ exports: { value: { a: 1 } } });
const encoded = Buffer.from('{"a":1}').toString('base64');
const withRef = (name: string, namespace = 'demo'): View<DeployItem> =>
  item('exec', 'web', { exportRef: { name, namespace } });

const secret = (name: string, metadata: object, data: object = { config: 'e30=' }): Any => ({
  apiVersion: 'v1',
  kind: 'Secret',
  data,
  metadata: { name, namespace: 'demo', ...metadata },
});

async function written(
  one: View<DeployItem>,
  outcome: Outcome,
  { there, fails }: { readonly there?: Any; readonly fails?: (verb: string) => void } = {},
) {
  const host = new FakeCluster('demo');
  if (there) host.put(there);
  if (fails) host.fail = fails;
  const ports = {
    write: <T extends Any>(write: unknown) => host.send<T>(write as never),
    live: host,
    signal: new AbortController().signal,
  };
  const answer = await writeExports(one, outcome, 'apply', ports as never).catch((error: unknown) => error);
  return { host, answer, requests: host.takeRequests() };
}
const refusing = (status: number, reason: string, verb: string) => (asked: string) => {
  if (asked === verb)
    throw apiErrorFrom(status, { reason, message: 'no' }, { verb: 'write', kind: 'Secret', name: 's' });
};

describe('the secret with the exports of an item', () => {
  it('is created with one request the first time', async () => {
    const { host, answer, requests } = await written(web, exporting);
    expect(requests).to.deep.equal(['create Secret demo/exec-web-x-export']);
    expect(answer).to.deep.equal({
      outcome: exporting,
      exportRef: { name: 'exec-web-x-export', namespace: 'demo' },
    });
    const stored = host.find('Secret', 'demo/exec-web-x-export');
    expect(stored?.['data']).to.deep.equal({ config: encoded });
    expect(stored?.metadata).to.deep.include({ ownerReferences: [owner] });
    expect(stored?.metadata).to.not.have.property('generateName');
  });

  it('has a name that seems generated, and a controller, where the plug-in wants so', async () => {
    const outcome = wait({ exports: { value: 1, generateName: 'web-', isControlled: true } });
    const { host } = await written(web, outcome);
    const [key = ''] = host.names('Secret');
    expect(key).to.match(/^demo\/web-[a-z0-9]{5}$/);
    const { generateName, ownerReferences } = host.find('Secret', key)?.metadata ?? { name: '' };
    expect([generateName, ownerReferences]).to.deep.equal(['web-', [{ ...owner, controller: true }]]);
  });

  it('is updated when it is there although the status does not say so', async () => {
    const stranger = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' };
    const there = secret('exec-web-x-export', { ownerReferences: [stranger, { ...owner, uid: 'before' }] });
    const { host, requests } = await written(web, exporting, { there });
    expect(requests).to.deep.equal(
      ['create', 'get', 'merge'].map((verb) => `${verb} Secret demo/exec-web-x-export`),
    );
    const stored = host.find('Secret', 'demo/exec-web-x-export');
    expect(stored?.['data']).to.deep.equal({ config: encoded });
    expect(stored?.metadata.ownerReferences).to.deep.equal([stranger, owner]);
  });

  it('is read before it is written when the status names it, and created again when it is gone', async () => {
    const there = secret('mine', { ownerReferences: [owner] });
    expect((await written(withRef('mine'), exporting, { there })).requests).to.deep.equal([
      'get Secret demo/mine',
      'merge Secret demo/mine',
    ]);
    expect((await written(withRef('mine'), exporting)).requests).to.deep.equal([
      'get Secret demo/mine',
      'create Secret demo/mine',
    ]);
  });

  it('stays as it is when another owner has it, and the job ends', async () => {
    const there = secret('exec-web-x-export', {}, { mine: 'eA==' });
    const { host, answer } = await written(web, exporting, { there });
    const { outcome } = answer as { outcome: Outcome & { problem: object } };
    expect(outcome.kind).to.equal('retry');
    expect(outcome.problem).to.deep.include({
      operation: 'CreateOrUpdateExports',
      reason: 'SecretNotOwned',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
    expect(host.find('Secret', 'demo/exec-web-x-export')?.['data']).to.deep.equal({ mine: 'eA==' });
  });

  it('is not tried twice when the server refuses it', async () => {
    const { answer, requests } = await written(web, exporting, {
      fails: refusing(403, 'Forbidden', 'create'),
    });
    expect(requests).to.deep.equal(['create Secret demo/exec-web-x-export']);
    const { outcome } = answer as { outcome: Outcome & { problem: object } };
    expect(outcome.problem).to.deep.include({ operation: 'reconcile', reason: 'CreateOrUpdateExports' });
  });

  it('ends the reconcile when the server fails', async () => {
    const { answer } = await written(web, exporting, { fails: refusing(500, 'InternalError', 'create') });
    expect(answer).to.be.instanceOf(Error);
  });

  it('is deleted when a job that succeeded exports nothing any more', async () => {
    const there = secret('mine', { ownerReferences: [owner] });
    const { answer, requests } = await written(withRef('mine'), done(), { there });
    expect(requests).to.deep.equal(['get Secret demo/mine', 'delete Secret demo/mine']);
    expect(answer).to.deep.equal({ outcome: done(), exportRef: undefined });
  });

  it('is not even read in another namespace', async () => {
    const { answer, requests } = await written(withRef('mine', 'other'), done());
    expect([requests, answer]).to.deep.equal([[], { outcome: done(), exportRef: undefined }]);
  });

  const problem = { operation: 'Op', reason: 'Re', message: 'no' };
  for (const [title, outcome] of [
    ['a job that waits', wait()],
    ['a job that failed', done({ phase: 'Failed' })],
    ['a job that will not work', fail(problem)],
    ['a job that is retried', retry(problem)],
  ] as const) {
    it(`stays for ${title}`, async () => {
      const { answer, requests } = await written(withRef('mine'), outcome);
      expect([requests, answer]).to.deep.equal([
        [],
        { outcome, exportRef: { name: 'mine', namespace: 'demo' } },
      ]);
    });
  }
});
