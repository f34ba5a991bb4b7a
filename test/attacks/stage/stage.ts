/** The environment of attacks: an API server, the product as it is installed, and a canary beside the attacker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { toYaml } from '../../../src/lib/yaml.ts';
import { freePort } from '../../support/ports.ts';
import { Canary, Probe } from './measure.ts';
import { control, serveApi, type LimitedProgram, type Program } from './programs.ts';

const POLL_MS = 50;
const READY_PATIENCE_MS = 60_000;

export class Stage {
  readonly client: Client;
  readonly canary: Canary;
  readonly kubeconfig: string;
  /** For files of its programs. */
  readonly folder: string;
  readonly #api: Program;
  readonly #configuration: string | undefined;
  #controllers: LimitedProgram | undefined;
  #probe: Probe | undefined;

  private constructor(folder: string, api: Program, client: Client, configuration?: string) {
    this.folder = folder;
    this.#api = api;
    this.client = client;
    this.kubeconfig = join(folder, 'kubeconfig');
    this.canary = new Canary(client);
    this.#configuration = configuration;
  }

  /** @param configuration as in the file that `espalier install --config` takes */
  static async open(configuration?: object): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-attacks-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const config = join(folder, 'config.yaml');
    if (configuration) writeFileSync(config, toYaml(configuration));
    const api = serveApi(kubeconfig);
    await until('the API server serves', () => {
      if (api.end !== undefined) throw new Error(`the API server ${api.end}: ${api.lines.join('\n')}`);
      return api.lines.some((line) => line.startsWith('Serving')) || undefined;
    });
    const ports = { userAgent: 'attacks', clock: systemClock, log: silentLogger };
    const client = createClient(await connect({ kubeconfig: { file: kubeconfig }, ...ports }));
    const stage = new Stage(folder, api, client, configuration && config);
    try {
      await stage.namespace('ls-system');
      await stage.startControllers();
      await stage.namespace(Canary.namespace);
      await stage.canary.start();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.canary.stop();
    await this.#probe?.stop();
    await this.#controllers?.program.stop();
    this.#controllers?.memory.release();
    await this.client.close();
    await this.#api.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get controllers(): LimitedProgram {
    if (!this.#controllers) throw new Error('the controllers do not run');
    return this.#controllers;
  }

  get probe(): Probe {
    if (!this.#probe) throw new Error('the controllers do not run');
    return this.#probe;
  }

  /** A namespace, with a Context once the controllers run. */
  async namespace(name: string): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name } };
    await this.client.send({ verb: 'create', kind: namespaceKind, object });
    if (!this.#controllers) return;
    await until(`namespace ${name} has a Context`, () =>
      this.client.get(contextKind, `${name}/default`).catch(() => undefined),
    );
  }

  /** Restarts the controllers, as a kubelet does, whether they have ended or not. */
  async restart(): Promise<void> {
    await this.#probe?.stop();
    await this.controllers.program.stop();
    this.controllers.memory.release();
    await this.startControllers();
  }

  private async startControllers(): Promise<void> {
    const port = await freePort();
    const { kubeconfig } = this;
    this.#controllers = control({ kubeconfig, port, folder: this.folder }, this.#configuration);
    this.#probe = new Probe(`http://127.0.0.1:${String(port)}`);
    const { program } = this.#controllers;
    await this.#probe.start(() => program.end && `${program.end}\n${program.lines.slice(-20).join('\n')}`);
  }
}

/** Repeats until there is an answer. @throws Error after the timeout, naming `what` */
export async function until<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  { patienceMs = READY_PATIENCE_MS, everyMs = POLL_MS } = {},
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline)
      throw new Error(`after ${String(Math.round(patienceMs / 1000))} s still not: ${what}`);
    await pause(everyMs);
  }
}
