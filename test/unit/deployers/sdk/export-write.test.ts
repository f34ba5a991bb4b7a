/** When an item writes or deletes the secret with its exports, and which one. */
import { expect } from 'chai';
import {
  holdsOnlyExports,
  isExportOf,
  isItem,
  removeExports,
} from '../../../../deployers/sdk/export-owner.ts';
import { writeExports } from '../../../../deployers/sdk/export-secret.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { done, fail, retry, wait, type Outcome } from '../../../../deployers/sdk/outcome.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { View, Write } from '../../../../src/runtime/types.ts';
import { LS } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const ref = { name: 'web-export', namespace: 'proj' };
const itemOf = (exportRef?: object, metadata: object = {}): View<DeployItem> =>
  ({
    apiVersion: `${LS}/v1alpha1`,
    kind: 'DeployItem',
    spec: { type: 'x/y' },
    metadata: { name: 'web', namespace: 'proj', uid: 'u', ...metadata },
    status: { observedGeneration: 1, ...(exportRef && { exportRef }) },
  }) as View<DeployItem>;
const owner = { apiVersion: `${LS}/v1alpha1`, kind: 'DeployItem', name: 'web', uid: 'u' };
const refusal = (status: number, reason: string, more: object = {}): Error =>
  apiErrorFrom(status, { reason, message: 'no', ...more }, { verb: 'create', kind: 'Secret' });

function given(ownerReferences: readonly object[] | undefined = [owner]) {
  const host = new FakeCluster('proj');
  if (ownerReferences.length > 0)
    host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      data: { config: 'e30=' },
      metadata: { ...ref, ownerReferences: ownerReferences as (typeof owner)[] },
    });
  const sent: Write[] = [];
  const write = async (each: Write) => {
    sent.push(each);
    return host.send(each);
  };
  const ports = { write: write as never, live: host, signal: new AbortController().signal };
  return { host, sent, ports };
}

const value = { value: { k: 'v' } };
const problem = { operation: 'o', reason: 'r', message: 'm' };

describe('the exports of an outcome', () => {
  const rows: readonly (readonly [string, Outcome, 'apply' | 'remove', 'written' | 'kept' | 'gone'])[] = [
    ['are written when everything has succeeded', done({ exports: value }), 'apply', 'written'],
    ['are written while the job waits', wait({ exports: value }), 'apply', 'written'],
    ['are deleted if nothing is exported any more', done(), 'apply', 'gone'],
    [
      'are deleted if nothing is exported and the job succeeds',
      done({ phase: 'Succeeded' }),
      'apply',
      'gone',
    ],
    ['stay if the job failed', done({ phase: 'Failed' }), 'apply', 'kept'],
    ['stay while the job waits', wait(), 'apply', 'kept'],
    ['stay while the job is retried', retry(problem), 'apply', 'kept'],
    ['stay if the job fails', fail(problem), 'apply', 'kept'],
    ['stay if the item is removed, whose owner reference deletes them', done(), 'remove', 'kept'],
  ];
  for (const [title, outcome, direction, expected] of rows) {
    it(title, async () => {
      const { host, ports } = given();
      const { exportRef } = await writeExports(itemOf(ref), outcome, direction, ports);
      const data = host.find('Secret', 'proj/web-export')?.['data'] as { config: string } | undefined;
      const text = data && Buffer.from(data.config, 'base64').toString();
      expect(text).to.equal({ written: '{"k":"v"}', kept: '{}', gone: undefined }[expected]);
      expect(exportRef).to.deep.equal(expected === 'gone' ? undefined : ref);
    });
  }

  it('of another namespace are left alone', async () => {
    const { ports, sent } = given();
    await writeExports(itemOf({ ...ref, namespace: 'other' }), done(), 'apply', ports);
    expect(sent).to.deep.equal([]);
  });

  it('are stored in a secret that the item owns', async () => {
    const { host, ports, sent } = given([]);
    await writeExports(itemOf(), done({ exports: { ...value, isControlled: true } }), 'apply', ports);
    const secret = host.find('Secret', 'proj/web-export');
    expect(secret).to.deep.include({ apiVersion: 'v1', kind: 'Secret' });
    expect(secret?.metadata.ownerReferences).to.have.length(1);
    expect(secret?.metadata.ownerReferences?.[0]).to.deep.include({ ...owner, controller: true });
    expect(sent.map(({ verb }) => verb)).to.deep.equal(['create']);
    await writeExports(itemOf(ref), done({ exports: value }), 'apply', ports);
    expect(host.find('Secret', 'proj/web-export')?.metadata.ownerReferences?.[0]).to.not.have.property(
      'controller',
    );
    expect(sent.at(-1)).to.deep.include({ verb: 'merge', key: 'proj/web-export' });
    expect((sent.at(-1) as unknown as { body: { metadata: object } }).body.metadata).to.have.property(
      'uid',
      secret?.metadata.uid,
    );
  });

  it('may be stored under a generated name, which is the same after a crash and another one for another item', async () => {
    const { ports } = given([]);
    const nameFor = async (uid: string): Promise<string | undefined> => {
      const outcome = done({ exports: { ...value, generateName: 'mine-' } });
      return (await writeExports(itemOf(undefined, { uid }), outcome, 'apply', ports)).exportRef?.name;
    };
    const [first, again, other] = [await nameFor('u'), await nameFor('u'), await nameFor('v')];
    expect(first)
      .to.match(/^mine-.{5}$/)
      .and.equal(again);
    expect(other)
      .to.match(/^mine-.{5}$/)
      .and.not.equal(first);
  });

  const terminating = { details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const refused: readonly (readonly [string, Error, object, string | undefined])[] = [
    ['are retried if they are forbidden', refusal(403, 'Forbidden'), {}, 'retry'],
    ['are retried if they are invalid', refusal(422, 'Invalid'), {}, 'retry'],
    [
      'are retried if only the namespace is being deleted',
      refusal(403, 'Forbidden', terminating),
      {},
      'retry',
    ],
    ['are retried if only the item is being deleted', refusal(403, 'Forbidden'), deleting, 'retry'],
    [
      'are given up if item and namespace are being deleted',
      refusal(403, 'Forbidden', terminating),
      deleting,
      'fail',
    ],
    ['fail with the error of the server', refusal(500, 'InternalError'), {}, undefined],
  ];
  for (const [title, error, metadata, kind] of refused) {
    it(title, async () => {
      const { host, ports } = given([]);
      host.fail = (verb) => {
        if (verb === 'create') throw error;
      };
      const conditions = [{ type: 'T', status: 'True', reason: 'R', message: 'm' }] as const;
      const outcome = done({ exports: value, status: { s: 1 }, conditions });
      const answer = await writeExports(itemOf(undefined, metadata), outcome, 'apply', ports).catch(
        (thrown: unknown) => thrown,
      );
      if (kind === undefined) {
        expect(answer).to.equal(error);
        return;
      }
      const answered = (answer as { outcome: Outcome }).outcome;
      expect(answered).to.deep.include({ kind, status: { s: 1 }, conditions });
      expect(answered)
        .to.have.property('problem')
        .that.includes({ operation: 'reconcile', reason: 'CreateOrUpdateExports' });
    });
  }
});

describe('the owner of a secret with exports', () => {
  for (const [title, more, expected] of [
    ['the item', {}, true],
    ['the item by its uid, whatever its name', { kind: 'X', apiVersion: 'y', name: 'z' }, true],
    ['an earlier item of the name', { uid: 'old' }, true],
    ['another item', { uid: 'old', name: 'other' }, false],
    ['another kind', { uid: 'old', kind: 'Execution' }, false],
    ['another API', { uid: 'old', apiVersion: 'example.org/v1' }, false],
  ] as const) {
    it(`an owner is ${expected ? '' : 'not '}the item: ${title}`, () => {
      expect(isItem({ ...owner, ...more }, itemOf())).to.equal(expected);
    });
  }

  const secret = (ownerReferences?: object[], data: object = { config: 'e30=' }) =>
    ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...ref, ...(ownerReferences && { ownerReferences }) },
      data,
    }) as never;
  const stranger = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' };
  for (const [title, each, item, expected] of [
    ['owned by it', secret([stranger, owner], { mine: 'x' }), itemOf(), true],
    ['named by its status, without an owner', secret(), itemOf(ref), true],
    ['named by its status, with another owner', secret([stranger]), itemOf(ref), false],
    ['named by its status, with other keys', secret([], { config: 'x', more: 'y' }), itemOf(ref), false],
    ['without an owner and not named', secret(), itemOf(), false],
    ['without an owner, under another name', secret(), itemOf({ ...ref, name: 'other' }), false],
  ] as const) {
    it(`a secret is ${expected ? '' : 'not '}the item's: ${title}`, () => {
      expect(isExportOf(each, item)).to.equal(expected);
    });
  }

  it('contains the exports and nothing else', () => {
    expect(
      [{ config: 'x' }, { config: 'x', a: 'y' }, { a: 'y' }, {}].map((data) =>
        holdsOnlyExports(secret([], data)),
      ),
    ).to.deep.equal([true, false, false, false]);
  });

  it('is deleted only in the version that was read', async () => {
    const { ports, sent, host } = given();
    const uid = host.find('Secret', 'proj/web-export')?.metadata.uid;
    await removeExports('proj/web-export', itemOf(), ports);
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({ verb: 'delete', key: 'proj/web-export', uid });
  });
});
