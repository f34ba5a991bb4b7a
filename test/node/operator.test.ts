/** A new operator in a pod, which the API server asks through its Service to convert objects. */
import { expect } from 'chai';
import { join } from 'node:path';
import { folders } from '../../hack/node/settings.ts';
import type { Client, Obj } from '../../src/runtime/types.ts';
import { connectClient, isReady, kubectl, podsOf, rolledOut, until } from './support/cluster.ts';

const OPERATOR = 'backup-operator';
const LABELS = `app=${OPERATOR}`;

interface Backup extends Obj {
  readonly spec: { readonly text?: string; readonly message?: string; readonly port?: number };
  readonly status?: { readonly ready?: boolean };
}

const file = (name: string): string => join(folders.operator, name);

describe('a new operator on a node', function () {
  this.timeout(0);
  let client: Client;

  before(async () => {
    client = await connectClient();
    kubectl('apply', '-f', file('crd.yaml'), '-f', file('deploy.yaml'), '-f', file('conversion.yaml'));
    rolledOut(OPERATOR, OPERATOR);
  });
  after(async () => {
    kubectl('delete', 'backups.backups.example.org', '--all', '-n', 'default', '--timeout=60s');
    const files = ['crd.yaml', 'deploy.yaml', 'conversion.yaml'].flatMap((name) => ['-f', file(name)]);
    kubectl('delete', ...files, '--ignore-not-found', '--timeout=60s');
    await client.close();
  });

  const read = (version: 'v1alpha1' | 'v1', name: string): Promise<Backup> =>
    client.raw(
      'GET',
      `/apis/backups.example.org/${version}/namespaces/default/backups/${name}`,
    ) as Promise<Backup>;
  const ready = (name: string): Promise<Backup> =>
    until(`${name} is ready`, 120, async () => {
      const backup = await read('v1', name);
      return backup.status?.ready === true && backup;
    });

  it('runs pods for objects of both versions, and converts each to the other', async () => {
    await until('the API server reaches the operator', 60, () =>
      kubectl('apply', '-f', file('example-older.yaml'), '-f', file('example.yaml')),
    );
    expect((await ready('hello-older')).spec).to.include({ message: 'hello', port: 8080 });
    expect((await ready('hello')).spec).to.include({ message: 'hello' });
    expect((await read('v1alpha1', 'hello')).spec)
      .to.include({ text: 'hello' })
      .and.not.have.property('message');
  });

  it('loses nothing that the older version does not have when a client writes that version', async () => {
    kubectl(
      'patch',
      'backups.v1alpha1.backups.example.org',
      'hello',
      '-n',
      'default',
      '--type=merge',
      '-p',
      '{"spec":{"text":"bye"}}',
    );
    expect((await ready('hello')).spec).to.deep.include({ message: 'bye', port: 8080 });
  });

  it('goes on after its pod was killed', async () => {
    const [pod] = await podsOf(client, LABELS, OPERATOR);
    kubectl('delete', 'pod', pod?.metadata.name ?? '', '-n', OPERATOR, '--grace-period=0', '--force');
    await until('another pod is ready', 120, async () =>
      (await podsOf(client, LABELS, OPERATOR)).some(
        (each) => each.metadata.name !== pod?.metadata.name && isReady(each),
      ),
    );
    kubectl('delete', 'deployment', 'hello', '-n', 'default');
    await until('the Deployment is there again', 60, () =>
      kubectl('get', 'deployment', 'hello', '-n', 'default'),
    );
    await ready('hello');
  });
});
