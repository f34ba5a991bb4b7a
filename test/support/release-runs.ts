/** Carries out the steps of a story of releases, with the helm program or with this product. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../../deployers/helm/release/install.ts';
import { rollBack } from '../../deployers/helm/release/rollback.ts';
import type { ReleaseTarget } from '../../deployers/helm/release/cluster.ts';
import type { ChartInput } from '../../deployers/helm/release/settings.ts';
import { uninstall } from '../../deployers/helm/release/uninstall.ts';
import { upgrade } from '../../deployers/helm/release/upgrade.ts';
import { lookupFrom } from '../../deployers/helm/target-facts.ts';
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { createDiscovery } from '../../src/runtime/transport/discovery.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { defaultCapabilities } from '../../src/templating/helm/capabilities.ts';
import { NAMESPACE, RELEASE } from './charts.ts';
import { chartsHere } from './helm-charts.ts';
import type { Story, StoryStep } from './release-stories.ts';
import { stateOf } from './release-state.ts';

export type Engine = 'helm' | 'ours';
type ActionStep = Extract<StoryStep, { do: 'install' | 'upgrade' | 'rollback' | 'uninstall' }>;

/** What a step led to. */
export interface StepResult {
  /** The error message; empty if the step succeeded. */
  readonly message: string;
  /** Objects and records on the cluster, comparable. */
  readonly state: Readonly<Record<string, unknown>>;
}

const DEFAULT_TIMEOUT_S = 20;

/** A cluster on which a story is carried out. */
export class StoryRun {
  readonly #server: ApiServer;
  readonly #target: ReleaseTarget;
  readonly #folder = mkdtempSync(join(tmpdir(), 'espalier-helm-'));
  readonly #helm: string;
  readonly #story: Story;

  constructor(server: ApiServer, target: ReleaseTarget, helm: string, story: Story) {
    this.#server = server;
    this.#target = target;
    this.#helm = helm;
    this.#story = story;
    writeFileSync(join(this.#folder, 'kubeconfig'), server.kubeconfig);
    for (const [name, bytes] of Object.entries(story.charts)) writeFileSync(this.#chart(name), bytes);
    mkdirSync(join(this.#folder, 'home'));
  }

  static async start(helm: string, story: Story): Promise<StoryRun> {
    const server = await startApiServer({ simulate: true });
    const connection = await connect({
      kubeconfig: { text: server.kubeconfig },
      userAgent: 'helm',
      clock,
      log,
    });
    const client = createClient(connection);
    const discovery = createDiscovery(client);
    const access = {
      client,
      kindOf: (apiVersion: string, kind: string) => discovery.kindOf(apiVersion, kind),
      close: () => client.close(),
    } as ReleaseTarget['access'];
    const target: ReleaseTarget = {
      access,
      name: RELEASE,
      namespace: NAMESPACE,
      charts: chartsHere()(''),
      clock,
      signal: new AbortController().signal,
      mask: (text) => text,
      warn: () => undefined,
    };
    const run = new StoryRun(server, target, helm, story);
    if (!JSON.stringify(story.steps).includes('createNamespace')) {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
      await run.#send('v1', 'Namespace', (kind) => ({ verb: 'create', kind, object }));
    }
    return run;
  }

  async close(): Promise<void> {
    await this.#target.access.close();
    await this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }

  #chart(name: string): string {
    return join(this.#folder, `${name}.tgz`);
  }

  async #send(
    apiVersion: string,
    name: string,
    write: (
      kind: Awaited<ReturnType<ReleaseTarget['access']['kindOf']>>,
    ) => Parameters<ReleaseTarget['access']['client']['send']>[0],
  ): Promise<void> {
    const { access } = this.#target;
    await access.client.send(write(await access.kindOf(apiVersion, name)));
  }

  async step(step: StoryStep, engine: Engine): Promise<StepResult> {
    let message = '';
    if (step.do === 'create') {
      const object = step.object as { apiVersion: string; kind: string; metadata: { name: string } };
      await this.#send(object.apiVersion, object.kind, (kind) => ({ verb: 'create', kind, object }));
    } else if (step.do === 'edit') {
      const [apiVersion, name, key] = step.object;
      await this.#send(apiVersion, name, (kind) => ({ verb: 'merge', kind, key, body: step.patch }));
    } else if (step.do === 'delete') {
      const [apiVersion, name, key] = step.object;
      await this.#send(apiVersion, name, (kind) => ({ verb: 'delete', kind, key }));
    } else message = await (engine === 'helm' ? this.#byHelm(step) : this.#byUs(step));
    return { message, state: await stateOf(this.#target) };
  }

  /** The output of a command of helm that reads. */
  async read(...args: readonly string[]): Promise<string> {
    const { output, code } = await this.#runHelm(args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${output}`);
    return output;
  }

  async #byHelm(step: ActionStep): Promise<string> {
    const timeout = 'timeout' in step ? (step.timeout ?? DEFAULT_TIMEOUT_S) : DEFAULT_TIMEOUT_S;
    const { output, code } = await this.#runHelm([
      ...argsOf(step, (name) => this.#chart(name)),
      '--timeout',
      `${String(timeout)}s`,
    ]);
    if (code === 0) return '';
    const at = output.lastIndexOf('Error: ');
    return output.slice(at + 'Error: '.length).trim();
  }

  async #runHelm(
    args: readonly string[],
  ): Promise<{ readonly output: string; readonly code: number | null }> {
    const home = join(this.#folder, 'home');
    const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: join(this.#folder, 'kubeconfig') };
    const child = spawn(this.#helm, [...args, '--namespace', NAMESPACE], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { output, code };
  }

  async #byUs(step: ActionStep): Promise<string> {
    try {
      await this.#act(step);
      return '';
    } catch (error) {
      const prefix = {
        install: 'INSTALLATION FAILED: ',
        upgrade: 'UPGRADE FAILED: ',
        rollback: '',
        uninstall: '',
      };
      return (prefix[step.do] + (error as Error).message).trim();
    }
  }

  async #act(step: ActionStep): Promise<void> {
    const target = this.#target;
    const timeoutMs = 1000 * ('timeout' in step ? (step.timeout ?? DEFAULT_TIMEOUT_S) : DEFAULT_TIMEOUT_S);
    if (step.do === 'uninstall')
      return uninstall(
        { waits: step.wait ?? false, keepsHistory: step.keepHistory ?? false, timeoutMs },
        target,
      );
    if (step.do === 'rollback')
      return rollBack(step.to, { force: false, waits: step.wait ?? false, prunes: true, timeoutMs }, target);
    const settings = {
      force: step.force ?? false,
      waits: step.wait ?? step.atomic ?? false,
      waitsForJobs: step.waitForJobs ?? false,
      isAtomic: step.atomic ?? false,
      cleansUp: step.cleanUp ?? false,
      takesOwnership: step.takeOwnership ?? false,
      timeoutMs,
    };
    const bytes = this.#story.charts[step.chart] ?? Buffer.of();
    const input: ChartInput = {
      chart: { bytes, digest: step.chart },
      values: (step.values ?? {}) as Fields,
      capabilities: () => Promise.resolve(defaultCapabilities),
      lookup: (definitions) => lookupFrom(target.access, target.signal, () => Promise.resolve(definitions)),
    };
    if (step.do === 'upgrade') return upgrade(input, settings, target);
    const more = { createsNamespace: step.createNamespace ?? false, replaces: step.replace ?? false };
    return install(input, { ...settings, ...more }, target);
  }
}

/** The arguments of helm for a step. */
function argsOf(step: ActionStep, chart: (name: string) => string): readonly string[] {
  if (step.do === 'rollback') return ['rollback', RELEASE, String(step.to), ...(step.wait ? ['--wait'] : [])];
  if (step.do === 'uninstall')
    return [
      'uninstall',
      RELEASE,
      ...(step.wait ? ['--wait'] : []),
      ...(step.keepHistory ? ['--keep-history'] : []),
    ];
  const flags: readonly (readonly [boolean | undefined, string])[] = [
    [step.atomic, '--atomic'],
    [step.wait, '--wait'],
    [step.waitForJobs, '--wait-for-jobs'],
    [step.force, '--force'],
    [step.takeOwnership, '--take-ownership'],
    [step.do === 'install' && step.createNamespace, '--create-namespace'],
    [step.replace, '--replace'],
    [step.cleanUp, '--cleanup-on-fail'],
    [step.do === 'upgrade', '--reset-values'],
  ];
  return [
    step.do,
    RELEASE,
    chart(step.chart),
    ...flags.filter(([isSet]) => isSet).map(([, flag]) => flag),
    ...(step.values
      ? [
          '--set-json',
          Object.entries(step.values)
            .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
            .join(','),
        ]
      : []),
  ];
}
