/** The product from install to uninstall, on a cluster with real pods. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { sampleObjects } from '../../src/cli/commands/servers/sample.ts';
import { findHelm } from '../../hack/helm/binary.ts';
import type { Client } from '../../src/runtime/types.ts';
import { skip } from '../support/skip.ts';
import {
  allNames,
  apply,
  attempt,
  connectClient,
  helm,
  images,
  install,
  kubectl,
  LS_SYSTEM,
  rolledOut,
  uninstall,
  until,
} from './support/cluster.ts';
import { finished, reconciled, tree, ownCluster } from './support/landscapes.ts';

const NOT_BOTH = {
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Target',
  metadata: { name: 'not-both', namespace: 'default' },
  spec: { type: 'example.org/place', config: {}, secretRef: { name: 'a', key: 'b' } },
};

const newNames = (before: readonly string[]): readonly string[] => {
  const known = new Set(before);
  return allNames().filter((name) => !known.has(name));
};

/** Webhooks refuse an invalid object, and admit what they should not see. */
const untilRefused = (): Promise<unknown> =>
  until('the webhooks refuse an invalid target', 60, () => {
    const { code, output } = attempt(NOT_BOTH);
    if (code === 0) kubectl('delete', 'targets.landscaper.gardener.cloud', 'not-both');
    return output.includes('either config or secretRef may be set, not both');
  });

describe('the product on a node', function () {
  this.timeout(0);
  let client: Client;
  let before: readonly string[];

  beforeEach(async () => {
    client = await connectClient();
    before = allNames();
  });
  afterEach(() => client.close());

  it('installs itself and the sample landscape with its pods, and leaves nothing behind', async () => {
    kubectl('create', 'namespace', LS_SYSTEM);
    kubectl('label', 'namespace', LS_SYSTEM, 'pod-security.kubernetes.io/enforce=restricted');
    install(['--webhooks', '--replicas', '2']);
    rolledOut('espalier-webhooks');
    await untilRefused();

    apply(...(await sampleObjects(readFileSync(process.env['ESPALIER_TEST_NODE'] ?? '', 'utf8'))));
    expect(await finished(client, 'hello', 'hello-landscape')).to.have.nested.property(
      'status.phase',
      'Succeeded',
    );
    expect(
      kubectl('get', 'deployment', 'web', '-n', 'hello', '-o', 'jsonpath={.status.readyReplicas}'),
    ).to.equal('2');
    expect((await reconciled(client, 'hello', 'hello-landscape')).status?.phase).to.equal('Succeeded');

    uninstall('hello');
    expect(newNames(before)).to.deep.equal([]);
  });

  it('is installed and removed by helm in the same way', async function () {
    const program = findHelm();
    if (program === undefined) skip(this, 'there is no helm program; make test-helm builds it');
    const [repository = '', tag = ''] = images.product.split(/:(?=[^:]+$)/);
    const values = [
      `image.repository=${repository}`,
      `image.tag=${tag}`,
      'webhooks.enabled=true',
      'replicas=2',
      'rbac.allNamespaces=true',
    ];
    const flags = ['--namespace', LS_SYSTEM, '--create-namespace', '--set', values.join(',')];
    helm(program, 'install', 'espalier', 'charts/espalier', ...flags);
    rolledOut('espalier');
    rolledOut('espalier-webhooks');
    await untilRefused();
    apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'trees' } }, ...ownCluster('trees'));
    apply(tree('trees', 'one'));
    expect((await finished(client, 'trees', 'one')).status?.phase).to.equal('Succeeded');

    kubectl('delete', 'installations.landscaper.gardener.cloud', 'one', '-n', 'trees', '--timeout=120s');
    kubectl('delete', 'namespace', 'trees', '--timeout=120s');
    kubectl('delete', 'validatingwebhookconfiguration', 'landscaper-validation-webhook');
    helm(program, 'uninstall', 'espalier', '--namespace', LS_SYSTEM, '--wait', '--cascade=foreground');
    // as docs/install.md says
    kubectl('delete', '-f', 'charts/espalier/crds');
    kubectl('delete', 'namespace', LS_SYSTEM, '--timeout=120s');
    expect(newNames(before)).to.deep.equal([]);
  });
});
