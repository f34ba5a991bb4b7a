/**
 * One pod on the kubelet of kubelet.ts. Like a real one, it starts native sidecars (init containers that are always
 * restarted) before the regular containers, and stops them when these have ended. It ends a deleted pod in the same
 * order, and reports the exit codes of its containers only after all of them have ended. The phase of a pod does not
 * depend on its sidecars.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POD, type Pod } from '../../deployers/container/kinds.ts';
import { sleep, systemClock as clock } from '../../src/lib/clock.ts';
import { ownField } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { ContainerProcess, ROOT, type Ended } from './container-process.ts';
import type { Container, PodSpec } from './pod-spec.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const LOOK_MS = 50;
/** A sidecar gets this long, even if the regular containers have used the whole grace period. */
const LEAST_GRACE_MS = 2_000;
const RESTART_MS = 1_000;

export interface KubeletOptions {
  readonly client: Client;
  /** The cluster, for its address and certificates. */
  readonly kubeconfig: string;
  readonly namespace: string;
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

export class PodRun {
  readonly #pod: Pod;
  readonly #folder: string;
  readonly #options: KubeletOptions;
  readonly #outputs: Map<string, string>;
  /** Aborts when all processes are killed. */
  readonly #kill: AbortSignal;
  /** Aborts when the run is over. */
  readonly #over = new AbortController();
  readonly #states = new Map<string, object>();
  readonly #restarts = new Map<string, number>();
  readonly #processes = new Map<string, ContainerProcess>();
  readonly #sidecars: { readonly container: Container; readonly end: Promise<unknown> }[] = [];
  #reported: Promise<unknown> = Promise.resolve();
  /** Set when the pod is deleted: the time at which the grace period ends. */
  #endsAt: number | undefined;
  #isStoppingSidecars = false;

  constructor(
    pod: Pod,
    folder: string,
    options: KubeletOptions,
    outputs: Map<string, string>,
    signal: AbortSignal,
  ) {
    this.#pod = pod;
    this.#folder = folder;
    this.#options = options;
    this.#outputs = outputs;
    this.#kill = signal;
  }

  get #spec(): PodSpec {
    return this.#pod.spec as unknown as PodSpec;
  }

  get #graceMs(): number {
    return Number(ownField(this.#pod.spec, 'terminationGracePeriodSeconds') ?? 30) * 1000;
  }

  async run(): Promise<void> {
    const watching = this.#untilDeleted();
    try {
      await this.#bind();
      await this.#mountAll();
      const phase = (await this.#initialize()) ? await this.#runRegular() : 'Failed';
      await this.#stopSidecars();
      await this.#send(phase);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error; // the pod was deleted meanwhile
    } finally {
      for (const process of this.#processes.values()) process.signal('SIGKILL');
      this.#over.abort();
      await watching;
      await this.#removeIfDeleted();
    }
  }

  /** Only the kubelet of its node removes a deleted pod. */
  async #bind(): Promise<void> {
    const { namespace = '', name } = this.#pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: 'test-node' };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
    await this.#options.client.raw('POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body);
  }

  /** @returns whether all init containers have succeeded */
  async #initialize(): Promise<boolean> {
    for (const container of this.#spec.initContainers) {
      if (isSidecar(container)) {
        await this.#running(container);
        this.#sidecars.unshift({ container, end: this.#keepRunning(container) });
      } else if ((await this.#contain(container)).exitCode !== 0) return false;
    }
    return true;
  }

  async #runRegular(): Promise<'Succeeded' | 'Failed'> {
    const ends = await Promise.all(this.#spec.containers.map((container) => this.#contain(container)));
    return ends.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
  }

  /** A sidecar that ends before the regular containers is restarted. */
  async #keepRunning(container: Container): Promise<void> {
    while (!this.#kill.aborted) {
      await this.#contain(container);
      if (this.#isStoppingSidecars || this.#endsAt !== undefined) return;
      this.#restarts.set(container.name, (this.#restarts.get(container.name) ?? 0) + 1);
      await sleep(clock, RESTART_MS, this.#kill).catch(() => undefined);
    }
  }

  async #stopSidecars(): Promise<void> {
    this.#isStoppingSidecars = true;
    for (const { container, end } of this.#sidecars) {
      const left = this.#endsAt === undefined ? this.#graceMs : this.#endsAt - clock.now();
      await this.#stop(container, Math.max(LEAST_GRACE_MS, left), end);
    }
  }

  async #stop({ name }: Container, graceMs: number, end: Promise<unknown>): Promise<void> {
    const process = this.#processes.get(name);
    process?.signal('SIGTERM');
    const cancel = clock.at(clock.now() + graceMs, () => process?.signal('SIGKILL'));
    await end.finally(cancel);
  }

  // ------------------------------------------------------------ volumes

  async #mountAll(): Promise<void> {
    for (const volume of this.#spec.volumes) {
      const folder = this.#volume(volume.name);
      await mkdir(folder, { recursive: true });
      const { secret, configMap, projected } = volume;
      const sources = projected?.sources ?? [
        { ...(secret && { secret: { name: secret.secretName } }), ...(configMap && { configMap }) },
      ];
      for (const source of sources) {
        if (source.secret) await this.#files(SECRET, source.secret.name, folder, 'base64');
        if (source.configMap) await this.#files(CONFIG_MAP, source.configMap.name, folder, 'utf8');
      }
    }
  }

  #volume(name: string): string {
    return join(this.#folder, name);
  }

  async #files(kind: Kind<WithData>, name: string, folder: string, encoding: BufferEncoding): Promise<void> {
    const { data = {} } = await this.#options.client.get(kind, `${this.#options.namespace}/${name}`);
    for (const [key, value] of Object.entries(data)) {
      await writeFile(join(folder, key), Buffer.from(value, encoding));
    }
  }

  /** The real path for a path in a container. */
  #path({ volumeMounts = [] }: Container, path: string): string {
    const mount = [...volumeMounts]
      .sort((a, b) => b.mountPath.length - a.mountPath.length)
      .find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
    return mount ? join(this.#volume(mount.name), path.slice(mount.mountPath.length)) : path;
  }

  // ------------------------------------------------------------ containers

  async #contain(container: Container): Promise<Ended> {
    const env = await this.#environment(container);
    const [program = '', ...args] = [...(container.command ?? []), ...(container.args ?? [])];
    const call =
      program === 'espalier'
        ? [process.execPath, '--import', 'tsx', join(ROOT, 'src/cli/main.ts'), ...args]
        : [program, ...args];
    await this.#running(container);
    const started = new ContainerProcess(call, env, (output) => {
      this.#outputs.set(`${this.#pod.metadata.name}/${container.name}`, output);
    });
    this.#processes.set(container.name, started);
    const kill = (): void => started.signal('SIGKILL');
    this.#kill.addEventListener('abort', kill);
    if (this.#kill.aborted) kill();
    else if (this.#endsAt !== undefined) started.signal('SIGTERM'); // deleted before it was started
    const ended = await started.ended;
    this.#kill.removeEventListener('abort', kill);
    const { exitCode, output } = ended;
    await this.#state(container, {
      terminated: {
        exitCode,
        startedAt: now(),
        finishedAt: now(),
        reason: exitCode === 0 ? 'Completed' : 'Error',
        ...(exitCode !== 0 && { message: output.slice(-2048) }),
      },
    });
    return ended;
  }

  #running(container: Container): Promise<void> {
    return this.#state(container, { running: { startedAt: now() } });
  }

  async #environment(container: Container): Promise<Record<string, string>> {
    const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOME: this.#folder };
    for (const { name, value, valueFrom } of container.env ?? []) {
      const field = valueFrom?.fieldRef.fieldPath;
      const { metadata } = this.#pod;
      if (field === 'metadata.name') env[name] = metadata.name;
      else if (field === 'metadata.namespace') env[name] = metadata.namespace ?? '';
      else env[name] = this.#path(container, value ?? '');
    }
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === SERVICE_ACCOUNT)) {
      env['KUBECONFIG'] = await this.#kubeconfig(container);
    }
    return env;
  }

  /** Replaces the variables and files by which a program in a pod finds its cluster. */
  async #kubeconfig(container: Container): Promise<string> {
    const given = parseYaml(this.#options.kubeconfig) as { clusters: object[] };
    const cluster = { ...given.clusters[0], name: 'host' };
    const file = join(this.#folder, `kubeconfig-${container.name}`);
    const document = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'pod',
      clusters: [cluster],
      users: [{ name: 'pod', user: { tokenFile: this.#path(container, `${SERVICE_ACCOUNT}/token`) } }],
      contexts: [{ name: 'pod', context: { cluster: 'host', user: 'pod' } }],
    };
    await writeFile(file, JSON.stringify(document), { mode: 0o600 });
    return file;
  }

  // ------------------------------------------------------------ status

  async #state({ name, image }: Container, state: object): Promise<void> {
    const restartCount = this.#restarts.get(name) ?? 0;
    this.#states.set(name, { name, image, imageID: `sha256:${name}`, ready: false, restartCount, state });
    const hasStarted = this.#spec.containers.some((one) => this.#states.has(one.name));
    if (this.#endsAt === undefined) await this.#send(hasStarted ? 'Running' : 'Pending');
  }

  /** One report after the other: two parallel ones may be stored in the wrong order, and the older one would stay. */
  async #send(phase: string): Promise<void> {
    const of = (containers: readonly Container[]): readonly object[] =>
      containers.map(({ name }) => this.#states.get(name)).filter((status) => status !== undefined);
    this.#reported = this.#reported.then(() => {
      const initContainerStatuses = of(this.#spec.initContainers);
      const status = { phase, initContainerStatuses, containerStatuses: of(this.#spec.containers) };
      return reportPod(this.#options.client, this.#pod, status);
    });
    await this.#reported;
  }

  /** Stops the containers of a deleted pod, except for sidecars, and kills them at the end of the grace period. */
  async #untilDeleted(): Promise<void> {
    const { client } = this.#options;
    while (!this.#over.signal.aborted) {
      const pod = await getIfThere(client, POD, this.#key);
      if (!pod || pod.metadata.deletionTimestamp) {
        const grace = pod ? Number(ownField(pod.metadata, 'deletionGracePeriodSeconds') ?? 0) * 1000 : 0;
        this.#endsAt = clock.now() + grace;
        const others = [...this.#spec.initContainers, ...this.#spec.containers].filter((c) => !isSidecar(c));
        const all = others.map(({ name }) => this.#processes.get(name));
        for (const process of all) process?.signal('SIGTERM');
        const cancel = clock.at(this.#endsAt, () => {
          for (const process of all) process?.signal('SIGKILL');
        });
        this.#over.signal.addEventListener('abort', cancel);
        return;
      }
      await sleep(clock, LOOK_MS, this.#over.signal).catch(() => undefined);
    }
  }

  get #key(): string {
    return `${this.#options.namespace}/${this.#pod.metadata.name}`;
  }

  async #removeIfDeleted(): Promise<void> {
    const { client } = this.#options;
    while (!this.#kill.aborted) {
      const pod = await getIfThere(client, POD, this.#key);
      if (!pod || pod.metadata.uid !== this.#pod.metadata.uid) return;
      if (pod.metadata.deletionTimestamp && ownField(pod.metadata, 'deletionGracePeriodSeconds') !== 0) {
        const write = { verb: 'delete', kind: POD, key: this.#key, gracePeriodSeconds: 0 } as const;
        await client.send(write).catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
        });
        return;
      }
      await sleep(clock, LOOK_MS, this.#kill).catch(() => undefined);
    }
  }
}

interface WithData extends Obj {
  data?: Record<string, string>;
}

const core = (kind: string, plural: string): Kind<WithData> => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});
const SECRET = core('Secret', 'secrets');
const CONFIG_MAP = core('ConfigMap', 'configmaps');

const now = (): string => new Date(clock.wall()).toISOString().replace(/\.\d+/, '');

/** Writes the status of a pod, as a kubelet does. */
export const reportPod = (client: Client, { metadata }: Pod, status: object): Promise<Pod> =>
  client.send({
    verb: 'merge',
    sub: 'status',
    kind: POD,
    key: `${metadata.namespace ?? ''}/${metadata.name}`,
    body: { status },
  });
