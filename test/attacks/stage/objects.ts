/** Objects of attackers, in few words. */
import { gzipSync } from 'node:zlib';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { targetKind, type Target } from '../../../src/api/kinds/target.ts';
import { blueprint, RECONCILE, root } from '../../support/landscape.ts';
import type { Scene, Victim } from './attack.ts';

/** An installation whose blueprint has these files; those that are not strings are YAML within the inline tree. */
export const withFiles = (name: string, filesystem: object, spec: object = {}): Installation =>
  root(name, { spec: { ...spec, blueprint: { inline: { filesystem } } } });

/** An installation whose blueprint.yaml is this text. */
export const withBlueprint = (
  name: string,
  text: string,
  files: object = {},
  spec: object = {},
): Installation => withFiles(name, { 'blueprint.yaml': text, ...files }, spec);

/** The blueprint of one template for deploy items. */
export const templated = (template: unknown, type = 'GoTemplate', more: object = {}): string =>
  JSON.stringify(blueprint({ more: { deployExecutions: [{ name: 'attack', type, template }], ...more } }));

/** Creates an installation that has to fail with this message. */
export async function failing(
  { create }: Scene,
  installation: Installation,
  ...says: readonly RegExp[]
): Promise<readonly Victim[]> {
  await create(installationKind, installation);
  return [{ kind: installationKind, name: installation.metadata.name, says }];
}

/** Creates the same many times, at once. @param one gets the number as a string */
export const failingTimes = async (
  count: number,
  one: (number: string) => Promise<readonly Victim[]>,
): Promise<readonly Victim[]> =>
  (await Promise.all(Array.from({ length: count }, (_, i) => one(String(i))))).flat();

/** An execution with this compressed list, in a job of its own, as any client may create it that can write the status. */
export async function executionOf(scene: Scene, name: string, packed: string): Promise<Victim> {
  const { create, client, namespace } = scene;
  const object: Execution = {
    apiVersion: API_VERSION,
    kind: 'Execution',
    metadata: { name, annotations: RECONCILE },
    spec: { deployItemsCompressed: packed },
  };
  await create(executionKind, object);
  const body = { status: { jobID: 'attack', phase: 'Init' } };
  await client.send({ verb: 'merge', kind: executionKind, key: `${namespace}/${name}`, body, sub: 'status' });
  return { kind: executionKind, name, says: [] };
}

/** A string repeated many times, compressed with gzip, in base64. */
export function packedRepeat(start: string, part: string, count: number, end: string): string {
  const whole = Buffer.concat([Buffer.from(start), Buffer.from(part.repeat(count)), Buffer.from(end)]);
  return gzipSync(whole, { level: 9 }).toString('base64');
}

/** A kubeconfig for a server that requires no credentials. */
export const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'attack' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'default' } }],
    'current-context': 'c',
  });

export const giveTarget = ({ create }: Scene, name: string, kubeconfig: string): Promise<Target> =>
  create(targetKind, {
    apiVersion: API_VERSION,
    kind: 'Target',
    metadata: { name },
    spec: { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig } },
  });

/** An installation of one or more deploy items on target `cluster`. */
export const onTarget = (name: string, items: readonly object[], target = 'cluster'): Installation =>
  withBlueprint(
    name,
    JSON.stringify(
      blueprint({
        more: {
          imports: [{ name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` }],
          deployExecutions: [
            {
              name: 'attack',
              type: 'GoTemplate',
              file: '/items.yaml',
            },
          ],
        },
      }),
    ),
    { 'items.yaml': JSON.stringify({ deployItems: items }) },
    { imports: { targets: [{ name: 'cluster', target }] } },
  );

export const manifestItem = (name: string, manifest: object, timeout = '60s'): object => ({
  name,
  type: `${GROUP}/kubernetes-manifest`,
  target: { import: 'cluster' },
  timeout,
  config: {
    apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
    kind: 'ProviderConfiguration',
    manifests: [{ policy: 'manage', manifest }],
  },
});

/** @param helmDeployment whether it becomes a release; only releases read schemas of charts */
export const helmItem = (name: string, chart: Buffer, helmDeployment = false): object => ({
  name,
  type: `${GROUP}/helm`,
  target: { import: 'cluster' },
  config: {
    apiVersion: `helm.deployer.${GROUP}/v1alpha1`,
    kind: 'ProviderConfiguration',
    name,
    namespace: 'default',
    helmDeployment,
    values: {},
    chart: { archive: { raw: chart.toString('base64') } },
  },
});
