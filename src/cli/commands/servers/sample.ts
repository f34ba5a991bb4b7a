/** The sample landscape: objects from the files of docs/samples, with the blueprint embedded in its installation. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { API_VERSION } from '../../../api/labels.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { parseYaml } from '../../../lib/yaml.ts';
import type { Obj } from '../../../runtime/types.ts';
import { namespaceObject } from '../../objects.ts';
import { packageFolder } from '../../package.ts';

export const sample = {
  namespace: 'hello',
  installation: 'hello-landscape',
  /** DataObject with the exports of the landscape. */
  dataObject: 'hello-url',
  target: 'my-cluster',
} as const;

/**
 * All objects of the sample, in the order in which they are applied.
 * @param kubeconfig content of the kubeconfig of the target cluster
 * @throws CommandError if this package contains no samples
 */
export function sampleObjects(kubeconfig: string): Obj[] {
  const folder = packageFolder(join('docs', 'samples', 'hello-landscape'));
  const read = (file: string): Obj => parseYaml(readFileSync(join(folder, file), 'utf8')) as Obj;
  const installation = read('installation.yaml') as Installation;
  const { namespace } = sample;
  const packed: Installation = {
    ...installation,
    spec: { ...installation.spec, blueprint: { inline: { filesystem: filesIn(join(folder, 'blueprint')) } } },
  };
  return [
    namespaceObject(namespace),
    within(namespace, read('settings.yaml')),
    within(namespace, targetObject(kubeconfig)),
    within(namespace, packed),
  ];
}

/** A folder in the format of `blueprint.filesystem`: folders are maps, files are strings. */
export function filesIn(folder: string): Record<string, unknown> {
  const entries = readdirSync(folder)
    .sort()
    .map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isDirectory() ? filesIn(path) : readFileSync(path, 'utf8')] as const;
    });
  return Object.fromEntries(entries);
}

const targetObject = (kubeconfig: string): Obj & { spec: object } => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name: sample.target },
  spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster', config: { kubeconfig } },
});

const within = (namespace: string, object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});
