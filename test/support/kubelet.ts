/**
 * A kubelet for pods of the container deployer that runs their containers as local processes: images are ignored,
 * commands are run, volumes are folders. Programs of ours run from the sources. Pods can access what their mounted
 * token allows.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POD, type Pod } from '../../deployers/container/kinds.ts';
import { sleep, systemClock as clock } from '../../src/lib/clock.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';

const ROOT = join(import.meta.dirname, '../..');
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const LOOK_MS = 50;

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly configMap?: { readonly name: string };
  readonly projected?: {
    readonly sources: readonly {
      readonly secret?: { readonly name: string };
      readonly configMap?: { readonly name: string };
    }[];
  };
}

interface PodSpec {
  readonly volumes: readonly Volume[];
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
}

export interface KubeletOptions {
  readonly client: Client;
  /** The cluster, for its address and certificates. */
  readonly kubeconfig: string;
  readonly namespace: string;
}

interface Ended {
  readonly exitCode: number;
  readonly output: string;
}

export class Kubelet {
  /** Names of the pods that have run, once each. */
  readonly runs: string[] = [];
  /** The output of each container so far, by `pod/container`. */
  readonly outputs = new Map<string, string>();
  readonly #options: KubeletOptions;
  readonly #seen = new Set<string>();
  readonly #working = new Set<Promise<void>>();
  readonly #life = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: KubeletOptions) {
    this.#options = options;
    setMaxListeners(0, this.#life.signal); // one for each pod that runs
  }

  start(): void {
    this.#loop = this.#look();
  }

  async stop(): Promise<void> {
    this.#life.abort(new Error('the kubelet stops'));
    await this.#loop;
    await Promise.all(this.#working);
  }

  async #look(): Promise<void> {
    const { client, namespace } = this.#options;
    const { signal } = this.#life;
    while (!signal.aborted) {
      for await (const page of client.list(POD, { namespace })) {
        for (const pod of page.items) {
          const uid = pod.metadata.uid ?? '';
          if (this.#seen.has(uid) || pod.metadata.deletionTimestamp) continue;
          this.#seen.add(uid);
          const work = this.#run(pod).finally(() => this.#working.delete(work));
          this.#working.add(work);
        }
      }
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    }
  }

  async #run(pod: Pod): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'espalier-pod-'));
    this.runs.push(pod.metadata.name);
    try {
      await new PodRun(pod, folder, this.#options, this.outputs, this.#life.signal).run();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

class PodRun {
  readonly #pod: Pod;
  readonly #folder: string;
  readonly #options: KubeletOptions;
  readonly #outputs: Map<string, string>;
  readonly #kill = new AbortController();
  readonly #states = new Map<string, object>();
  #reported: Promise<unknown> = Promise.resolve();

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
    const end = (): void => {
      this.#kill.abort();
    };
    signal.addEventListener('abort', end, { signal: this.#kill.signal });
  }

  get #spec(): PodSpec {
    return this.#pod.spec as unknown as PodSpec;
  }

  async run(): Promise<void> {
    const watching = this.#untilDeleted();
    try {
      await this.#mountAll();
      for (const container of this.#spec.initContainers) {
        const { exitCode } = await this.#contain(container);
        if (exitCode !== 0) {
          await this.#report('Failed');
          return;
        }
      }
      const ends = await Promise.all(this.#spec.containers.map((container) => this.#contain(container)));
      await this.#report(ends.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed');
    } catch (error) {
      if (!(error instanceof NotFound)) throw error; // the pod was deleted meanwhile
    } finally {
      this.#kill.abort();
      await watching;
    }
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
    await this.#state(container, { running: { startedAt: now() } });
    const ended = await this.#process(call, env, (output) => {
      this.#outputs.set(`${this.#pod.metadata.name}/${container.name}`, output);
    });
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

  async #process(
    [program = '', ...args]: readonly string[],
    env: Record<string, string>,
    say: (output: string) => void,
  ): Promise<Ended> {
    const child: ChildProcess = spawn(program, args, {
      cwd: ROOT,
      env: { ...env, NODE_OPTIONS: '--conditions=espalier-source' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    say(output);
    const note = (chunk: Buffer): void => {
      output += chunk.toString();
      say(output);
    };
    child.stdout?.on('data', note);
    child.stderr?.on('data', note);
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // it has ended by itself
      }
    };
    this.#kill.signal.addEventListener('abort', end);
    if (this.#kill.signal.aborted) end();
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      return { exitCode: code ?? 137, output };
    } catch (error) {
      return { exitCode: 128, output: (error as Error).message };
    } finally {
      this.#kill.signal.removeEventListener('abort', end);
    }
  }

  // ------------------------------------------------------------ status

  async #state({ name, image }: Container, state: object): Promise<void> {
    this.#states.set(name, { name, image, imageID: `sha256:${name}`, ready: false, restartCount: 0, state });
    await this.#report(this.#spec.initContainers.some((c) => c.name === name) ? 'Pending' : 'Running');
  }

  /** One report after the other: two parallel ones may be stored in the wrong order, and the older one would stay. */
  async #report(phase: string): Promise<void> {
    this.#reported = this.#reported.then(() => this.#send(phase));
    await this.#reported;
  }

  async #send(phase: string): Promise<void> {
    const of = (containers: readonly Container[]): readonly object[] =>
      containers.map(({ name }) => this.#states.get(name)).filter((status) => status !== undefined);
    const status = {
      phase,
      initContainerStatuses: of(this.#spec.initContainers),
      containerStatuses: of(this.#spec.containers),
    };
    await reportPod(this.#options.client, this.#pod, status);
  }

  /** A deleted pod is killed, and removed when its processes have ended. */
  async #untilDeleted(): Promise<void> {
    const { client, namespace } = this.#options;
    const key = `${namespace}/${this.#pod.metadata.name}`;
    while (!this.#kill.signal.aborted) {
      const pod = await getIfThere(client, POD, key);
      if (!pod || pod.metadata.deletionTimestamp) {
        this.#kill.abort();
        return;
      }
      await sleep(clock, LOOK_MS, this.#kill.signal).catch(() => undefined);
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
