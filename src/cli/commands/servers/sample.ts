/** The sample landscape: objects from the files of docs/samples, with the blueprint embedded in its installation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_VERSION } from '../../../api/labels.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { parseYaml } from '../../../lib/yaml.ts';
import type { Obj } from '../../../runtime/types.ts';
import { namespaceObject } from '../../objects.ts';
import { packageFolder } from '../../package.ts';
import { blueprintFilesIn } from '../blueprints/sources.ts';
import { BLUEPRINT_FOLDER, withInlineBlueprint } from '../apply/local-blueprint.ts';

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
export async function sampleObjects(kubeconfig: string): Promise<Obj[]> {
  const folder = packageFolder(join('docs', 'samples', 'hello-landscape'));
  const read = (file: string): Obj => parseYaml(readFileSync(join(folder, file), 'utf8')) as Obj;
  const { namespace } = sample;
  const blueprint = await blueprintFilesIn(join(folder, BLUEPRINT_FOLDER));
  const packed = withInlineBlueprint(read('installation.yaml') as Installation, blueprint);
  return [
    namespaceObject(namespace),
    within(namespace, read('settings.yaml')),
    within(namespace, targetObject(kubeconfig)),
    within(namespace, packed),
  ];
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
