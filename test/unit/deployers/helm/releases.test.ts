/** Helm's records of releases: what of them is read, and when. */
import { expect } from 'chai';
import { deleteRecord, recordsOf } from '../../../../deployers/helm/releases.ts';
import type { KubeAccess } from '../../../../deployers/sdk/access.ts';
import { RetryError } from '../../../../deployers/sdk/errors.ts';
import type { Secret } from '../../../../deployers/sdk/kinds.ts';
import { Forbidden, NotFound } from '../../../../src/runtime/errors.ts';
import type { Client } from '../../../../src/runtime/types.ts';
import { outcome } from '../../../support/outcome.ts';

const revision = (version: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: `sh.helm.release.v1.web.v${version}`,
    namespace: 'apps',
    uid: `uid-${version}`,
    labels: { version, status: version === '12' ? 'deployed' : 'superseded' },
  },
  data: { release: `content ${version}` },
});

/** A target with these secrets; notes what is asked. */
function targetWith(...secrets: readonly Secret[]) {
  const asked: string[] = [];
  const client = {
    async *list(_kind: unknown, query: { readonly metadataOnly?: boolean }) {
      asked.push(query.metadataOnly ? 'list of metadata' : 'list');
      yield await Promise.resolve({ items: secrets.map(({ data: _, ...rest }) => rest) });
    },
    get(_kind: unknown, key: string) {
      asked.push(key);
      const found = secrets.find(({ metadata: { name, namespace } }) => key === `${namespace ?? ''}/${name}`);
      const ref = { verb: 'get', kind: { kind: 'Secret' }, name: key } as never;
      return found
        ? Promise.resolve(found)
        : Promise.reject(new NotFound({ message: 'not found', status: 404, reason: 'NotFound', ref }));
    },
  } as unknown as Client;
  return { asked, access: { client } as KubeAccess };
}

const RELEASE = { name: 'web', namespace: 'apps' };
const { signal } = new AbortController();

describe('the records of a release', () => {
  it('are read without their contents, in the order of their revisions', async () => {
    const { access, asked } = targetWith(revision('12'), revision('9'), revision('no'), revision('10'));
    const records = await recordsOf(access, RELEASE, signal);
    expect(records.map((record) => record.revision)).to.deep.equal([9, 10, 12]);
    expect(records.at(-1)).to.deep.include({
      status: 'deployed',
      secret: { name: 'sh.helm.release.v1.web.v12', namespace: 'apps', uid: 'uid-12' },
    });
    expect(asked).to.deep.equal(['list of metadata']);
  });

  it('have a content that is read when it is needed', async () => {
    const { access, asked } = targetWith(revision('1'), revision('2'));
    const newest = (await recordsOf(access, RELEASE, signal)).at(-1);
    expect(await newest?.content()).to.equal('content 2');
    expect(asked).to.deep.equal(['list of metadata', 'apps/sh.helm.release.v1.web.v2']);
  });

  it('are deleted with the uid that was read; one that is gone counts as deleted, and a refusal does not', async () => {
    const { access } = targetWith(revision('1'));
    const [record] = await recordsOf(access, RELEASE, signal);
    const sent: unknown[] = [];
    const refusal = (Refusal: typeof NotFound | typeof Forbidden, status: number) =>
      new Refusal({ message: 'no', status, reason: 'x', ref: { verb: 'delete', kind: 'Secret' } });
    const deleting = (answer: Promise<unknown>) =>
      deleteRecord(
        { client: { send: (write: unknown) => (sent.push(write), answer) } } as unknown as KubeAccess,
        record!,
        signal,
      );
    await deleting(Promise.resolve({}));
    expect(sent[0]).to.deep.include({
      verb: 'delete',
      key: 'apps/sh.helm.release.v1.web.v1',
      uid: 'uid-1',
    });
    await deleting(Promise.reject(refusal(NotFound, 404)));
    expect(await outcome(deleting(Promise.reject(refusal(Forbidden, 403))))).to.throw(Forbidden);
  });

  it('are read again when one is deleted meanwhile, instead of counting as empty', async () => {
    const secrets = [revision('1')];
    const { access } = targetWith(...secrets);
    const [record] = await recordsOf(access, RELEASE, signal);
    const gone = targetWith();
    const [late] = await recordsOf(
      { client: { ...access.client, get: gone.access.client.get } } as never,
      RELEASE,
      signal,
    );
    expect(await record?.content()).to.equal('content 1');
    expect(await outcome(late!.content())).to.throw(RetryError, 'was deleted while it was read');
  });
});
