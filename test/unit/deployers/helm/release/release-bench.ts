/**
 * Releases on a cluster in memory, on a clock that stands still: the actions of the engine, and all changes that they
 * make in their order. Jobs and pods of hooks end as soon as they are created, as `ends` says.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ReleaseTarget } from '../../../../../deployers/helm/release/cluster.ts';
import { install } from '../../../../../deployers/helm/release/install.ts';
import { rollBack } from '../../../../../deployers/helm/release/rollback.ts';
import { uninstall } from '../../../../../deployers/helm/release/uninstall.ts';
import { upgrade } from '../../../../../deployers/helm/release/upgrade.ts';
import { defaultCapabilities } from '../../../../../src/templating/helm/capabilities.ts';
import { apiErrorFrom } from '../../../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../../support/clock.ts';
import { chartsHere, packChart } from '../../../../support/helm-charts.ts';
import { FakeCluster, type Any } from '../../fake-cluster.ts';

export const NAMESPACE = 'app';
const NAME = 'web';

/** How a job or pod ends. */
export type End = 'succeeds' | 'fails' | 'stays';

const STATUS: Readonly<Record<End, object>> = {
  succeeds: { phase: 'Succeeded', conditions: [{ type: 'Complete', status: 'True' }] },
  fails: {
    phase: 'Failed',
    conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }],
  },
  stays: { phase: 'Running' },
};

export class ReleaseBench {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster(NAMESPACE);
  /** `+ConfigMap a`, `~ConfigMap a`, `-ConfigMap a`; records are `v1 deployed`, `-v1`. */
  readonly changes: string[] = [];
  readonly sent: Write<Obj>[] = [];
  readonly warnings: string[] = [];
  readonly abort = new AbortController();
  readonly target: ReleaseTarget;
  /** By name of the job or pod. */
  readonly ends: Record<string, End> = {};
  /** Of jobs and pods, besides how they end. */
  readonly endsWith: Record<string, object> = {};
  /** The error of the last action that failed. */
  failure: unknown;

  constructor() {
    this.target = {
      access: this.cluster,
      name: NAME,
      namespace: NAMESPACE,
      charts: chartsHere()(''),
      clock: this.clock,
      signal: this.abort.signal,
      mask: (text) => text.replaceAll('s3cret', '[...]'),
      warn: (message) => void this.warnings.push(message),
    };
    const send = this.cluster.send.bind(this.cluster);
    this.cluster.send = (write, signal?: AbortSignal) => {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      this.sent.push(write);
      return send(write);
    };
    this.cluster.onChange = (kind, key, before, after) => {
      const name = key.split('/').at(-1) ?? '';
      const version = /^sh\.helm\.release\.v1\.web\.(v\d+)$/.exec(name)?.[1];
      if (version !== undefined)
        this.changes.push(after ? `${version} ${after.metadata.labels?.['status'] ?? ''}` : `-${version}`);
      else this.changes.push(`${!before ? '+' : after ? '~' : '-'}${kind} ${name}`);
    };
    this.cluster.lost = (verb, what) => {
      const [, kind = '', key = ''] = /^(Job|Pod) (.+)$/.exec(what) ?? [];
      if (verb !== 'create' || kind === '') return;
      const name = key.split('/')[1] ?? '';
      const status = { ...STATUS[this.ends[name] ?? 'succeeds'], ...this.endsWith[name] };
      this.cluster.put({ ...this.#find(kind, key), status });
      this.changes.pop();
    };
  }

  #find(kind: string, key: string): Any {
    const found = this.cluster.find(kind, key);
    if (!found) throw new Error(`no ${kind} ${key}`);
    return found;
  }

  /** What changed since the last call. */
  takeChanges(): string[] {
    return this.changes.splice(0);
  }

  /** The stored statuses of all revisions: `v1 superseded`. */
  statuses(): string[] {
    return this.cluster
      .names('Secret')
      .map((key) => this.#find('Secret', key).metadata.labels ?? {})
      .map(({ version = '', status = '' }) => `v${version} ${status}`);
  }

  /** Makes the server refuse these requests, `verb Kind name`, and no others. */
  refuse(...requests: readonly string[]): void {
    this.cluster.fail = (verb, what) => {
      if (requests.includes(`${verb} ${what.replace(`${NAMESPACE}/`, '')}`))
        throw apiErrorFrom(403, { reason: 'Forbidden', message: `no ${verb}` }, { verb, kind: 'x' });
    };
  }

  /** A ConfigMap of another owner. */
  place(name: string, metadata: object, data: object = {}): void {
    const all = { name, namespace: NAMESPACE, ...metadata };
    this.cluster.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: all, data });
    this.takeChanges();
  }

  dataOf(name: string): unknown {
    return this.cluster.find('ConfigMap', `${NAMESPACE}/${name}`)?.['data'];
  }

  /** What the record of a revision says. */
  async infoOf(version: number) {
    const { data } = this.#find('Secret', `${NAMESPACE}/sh.helm.release.v1.${NAME}.v${String(version)}`);
    const view = await this.target.charts.viewRecord(data as { release: string });
    if (!view) throw new Error('the record is damaged');
    return view.info;
  }

  /** The last runs of the hooks in the record of a revision. */
  hookRunsOf(version: number): readonly { readonly phase: string; readonly completed_at: string }[] {
    const { data } = this.#find('Secret', `${NAMESPACE}/sh.helm.release.v1.${NAME}.v${String(version)}`);
    const packed = Buffer.from((data as { release: string }).release, 'base64').toString();
    const record = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as {
      hooks: { last_run: { phase: string; completed_at: string } }[];
    };
    return record.hooks.map(({ last_run }) => last_run);
  }

  /** Carries an action out, and lets time pass until it ends. @returns the error message; empty if it succeeded */
  async run(work: Promise<unknown>): Promise<string> {
    let message: string | undefined;
    void work.then(
      () => (message = ''),
      (error: unknown) => {
        this.failure = error;
        message = (error as Error).message;
      },
    );
    for (let i = 0; i < 500; i++) {
      await settle(3);
      if (message !== undefined) return message;
      await this.clock.advance(2000);
    }
    throw new Error('the action does not end');
  }

  install(chart: Buffer, settings: object = {}, values: object = {}): Promise<string> {
    return this.run(install(this.#input(chart, values), { ...PLAIN, ...settings }, this.target));
  }

  upgrade(chart: Buffer, settings: object = {}, values: object = {}): Promise<string> {
    return this.run(upgrade(this.#input(chart, values), { ...PLAIN, ...settings }, this.target));
  }

  rollBack(to: number, settings: object = {}): Promise<string> {
    return this.run(rollBack(to, { ...PLAIN, ...settings }, this.target));
  }

  uninstall(settings: object = {}): Promise<string> {
    return this.run(
      uninstall({ waits: false, keepsHistory: false, timeoutMs: TIMEOUT_MS, ...settings }, this.target),
    );
  }

  #input(chart: Buffer, values: object) {
    return {
      chart: { bytes: chart, digest: chart.toString('base64') },
      values: values as Record<string, unknown>,
      capabilities: () => Promise.resolve(defaultCapabilities),
      lookup: () => () => Promise.resolve(undefined),
    };
  }

  /** Stores the record of a revision, as another process would. */
  giveRecord(
    version: number,
    status: string,
    { hooks = [], labels = {}, manifest = [], release = '' }: Given = {},
  ): void {
    const info = { first_deployed: START, last_deployed: START, deleted: '', description: '', status };
    const record = {
      name: NAME,
      namespace: NAMESPACE,
      version,
      info,
      hooks,
      chart: { metadata: { name: 'small', version: '0.1.0' } },
      manifest: manifest.map((object) => `---\n${JSON.stringify(object)}\n`).join(''),
    };
    const packed = Buffer.from(gzipSync(JSON.stringify(record)).toString('base64')).toString('base64');
    this.cluster.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `sh.helm.release.v1.${NAME}.v${String(version)}`,
        namespace: NAMESPACE,
        labels: { ...labels, name: NAME, owner: 'helm', status, version: String(version) },
      },
      data: { release: release || packed },
    });
    this.changes.pop();
  }
}

interface Given {
  readonly hooks?: readonly object[];
  readonly labels?: object;
  readonly manifest?: readonly object[];
  /** Instead of a readable record. */
  readonly release?: string;
}

/** The time at which the clock stands when a bench starts. */
export const START = '2026-01-01T00:00:00Z';
export const TIMEOUT_MS = 20_000;
const PLAIN = {
  force: false,
  waits: false,
  isAtomic: false,
  takesOwnership: false,
  timeoutMs: TIMEOUT_MS,
  createsNamespace: false,
  replaces: false,
};

// ---------------------------------------------------------------- charts

export const config = (name: string, annotations: object = {}, data: object = { a: 'b' }): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, annotations },
  data,
});

export const job = (name: string, annotations: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, annotations },
  spec: { template: { spec: { containers: [{ name: 'm', image: 'm:1' }] } } },
});

export const claim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {},
});

export const crd = (name: string, annotations: object = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${name.toLowerCase()}s.example.com`, annotations },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: name, plural: `${name.toLowerCase()}s` },
    versions: [{ name: 'v1', served: true }],
  },
});

/** Annotations of a hook. */
export const hook = (event: string, policies = '', weight = 0): object => ({
  'helm.sh/hook': event,
  'helm.sh/hook-weight': String(weight),
  ...(policies !== '' && { 'helm.sh/hook-delete-policy': policies }),
});

/** A chart with these objects. */
export const chartOf = (objects: readonly object[], files: Readonly<Record<string, string>> = {}): Buffer =>
  packChart({
    ...Object.fromEntries(
      objects.map((object, i) => [`templates/${String(i).padStart(2, '0')}.yaml`, JSON.stringify(object)]),
    ),
    ...files,
  });
