/** Builders for installations, targets, data objects and blueprints; a test names only what matters to it. */
import type { DataObject } from '../../../src/api/kinds/dataobject.ts';
import type { Installation, InstallationSpec } from '../../../src/api/kinds/installation.ts';
import type { Target } from '../../../src/api/kinds/target.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import type { ObjectMeta } from '../../../src/api/shared.ts';
import type { ImportSet } from '../../../src/blueprint/import-set.ts';
import { loadInlineBlueprint, type LoadedBlueprint } from '../../../src/blueprint/load.ts';
import { templateScope, type RenderContext } from '../../../src/blueprint/render.ts';
import { inThisThread } from '../../../src/blueprint/work.ts';
import { States } from '../../../src/blueprint/state.ts';
import { importedData } from '../../../src/dataflow/dataimport.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { FakeClock } from '../../support/clock.ts';

export const CLUSTER = 'landscaper.gardener.cloud/kubernetes-cluster';

export const installation = (
  name: string,
  spec: Partial<InstallationSpec> = {},
  metadata: Partial<ObjectMeta> = {},
): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name, namespace: 'demo', uid: `uid-${name}`, ...metadata },
  spec: { context: 'default', blueprint: { inline: { filesystem: {} } }, ...spec },
  status: { observedGeneration: 1, jobID: 'job-1' },
});

export const dataObject = (name: string, data: unknown, metadata: Partial<ObjectMeta> = {}): DataObject => ({
  apiVersion: API_VERSION,
  kind: 'DataObject',
  metadata: { name, namespace: 'demo', ...metadata },
  data,
});

export const target = (
  name: string,
  config: unknown = { kubeconfig: '{}' },
  metadata: Partial<ObjectMeta> = {},
): Target => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name, namespace: 'demo', generation: 1, ...metadata },
  spec: { type: CLUSTER, config },
});

/** A blueprint with these fields, and further files. */
export const blueprint = (fields: object = {}, files: Record<string, unknown> = {}): LoadedBlueprint =>
  loadInlineBlueprint({
    'blueprint.yaml': JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...fields }),
    ...files,
  });

interface Found {
  readonly data?: Record<string, unknown>;
  readonly targets?: Record<string, Target>;
  readonly targetLists?: Record<string, readonly Target[]>;
  readonly targetMaps?: Record<string, Record<string, Target>>;
}

export const imports = ({
  data = {},
  targets = {},
  targetLists = {},
  targetMaps = {},
}: Found): ImportSet => ({
  data: new Map(Object.entries(data).map(([name, value]) => [name, importedData(dataObject(name, value))])),
  targets: new Map(Object.entries(targets)),
  targetLists: new Map(Object.entries(targetLists)),
  targetMaps: new Map(Object.entries(targetMaps)),
});

/** Renders templates in this process. */
export const runner = inThisThread({ clock: new FakeClock(), rng: seededRng(1) });

/** The environment for executions of the installation `shop`. */
export const context = (loaded: LoadedBlueprint, values: Record<string, unknown>): RenderContext => ({
  blueprint: loaded,
  scope: templateScope(installation('shop'), values),
  installation: 'shop',
  states: new States(),
  runner,
});
