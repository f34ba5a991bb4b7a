/** Objects with good defaults: a test names only what matters to it. */
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import { API_VERSION, FINALIZER, annotations, labels } from '../../src/api/labels.ts';
import type { ObjectMeta } from '../../src/api/shared.ts';

type MetaPatch = Partial<ObjectMeta>;
type StatusOf<T extends { status?: unknown }> = NonNullable<T['status']>;

const NAMESPACE = 'demo';
export const NOW = '2026-01-01T00:00:00Z';

const meta = (name: string, patch: MetaPatch = {}): ObjectMeta => ({
  name,
  namespace: NAMESPACE,
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  finalizers: [FINALIZER],
  ...patch,
});

export const installation = (
  name: string,
  options: {
    meta?: MetaPatch;
    spec?: Partial<Installation['spec']>;
    status?: Partial<StatusOf<Installation>>;
  } = {},
): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: meta(name, options.meta),
  spec: { context: 'default', blueprint: { inline: { filesystem: {} } }, ...options.spec },
  ...(options.status && { status: { observedGeneration: 1, ...options.status } }),
});

/** A sub-installation of `parent` for the template `template`. */
export const child = (
  parent: string,
  template: string,
  status: Partial<StatusOf<Installation>> = {},
  patch: MetaPatch = {},
): Installation =>
  installation(`${template}-x`, {
    status,
    meta: {
      labels: { [labels.encompassedBy]: parent },
      annotations: { [annotations.subinstallationName]: template },
      ownerReferences: [owner('Installation', parent)],
      ...patch,
    },
  });

export const execution = (
  name: string,
  options: { meta?: MetaPatch; items?: DeployItemTemplate[]; status?: Partial<StatusOf<Execution>> } = {},
): Execution => ({
  apiVersion: API_VERSION,
  kind: 'Execution',
  metadata: meta(name, options.meta),
  spec: { context: 'default', ...(options.items && { deployItems: options.items }) },
  ...(options.status && { status: options.status }),
});

export const template = (name: string, more: Partial<DeployItemTemplate> = {}): DeployItemTemplate => ({
  name,
  type: 'test.example/fake',
  config: { apiVersion: 'test.example/v1', kind: 'Cfg' },
  ...more,
});

/** The deploy item of template `name` in execution `exec`. */
export const item = (
  exec: string,
  name: string,
  status: Partial<StatusOf<DeployItem>> = {},
  patch: MetaPatch = {},
): DeployItem => ({
  apiVersion: API_VERSION,
  kind: 'DeployItem',
  metadata: meta(`${exec}-${name}-x`, {
    labels: { [labels.executionManagedBy]: exec, [labels.executionName]: name },
    ownerReferences: [owner('Execution', exec)],
    ...patch,
  }),
  spec: { ...withoutName(template(name)), context: 'default' },
  status: { observedGeneration: 1, ...status },
});

const withoutName = ({ name: _, ...rest }: DeployItemTemplate) => rest;

const owner = (kind: string, name: string) => ({
  apiVersion: API_VERSION,
  kind,
  name,
  uid: `uid-${name}`,
  controller: true,
  blockOwnerDeletion: true,
});

/** Finished job `id` in `phase`. */
export const done = (id: string, phase = 'Succeeded') => ({ jobID: id, jobIDFinished: id, phase });
/** Running job `id` in `phase`. */
export const running = (id: string, phase = 'Progressing') => ({ jobID: id, phase });
export const deleting: MetaPatch = { deletionTimestamp: NOW };
