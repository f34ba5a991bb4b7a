/**
 * kubectl connected to a subject: the embedded server in this process, or the one that ESPALIER_TEST_KUBECONFIG
 * names.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../../src/apiserver/server.ts';
import type { ApiServer } from '../../../src/apiserver/server.ts';
import { parseYaml, toYaml } from '../../../src/lib/yaml.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const EXTERNAL = process.env['ESPALIER_TEST_KUBECONFIG'];

/** The output of kubectl differs from version to version; the transcripts are from this one. */
const MINOR = '32';

/** Why the suite cannot run here; undefined if it can. */
export function whyNot(): string | undefined {
  const found = spawnSync('kubectl', ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
  if (found.error || found.status !== 0) return 'kubectl is not on PATH';
  const { clientVersion } = JSON.parse(found.stdout) as {
    clientVersion: { minor: string; gitVersion: string };
  };
  return clientVersion.minor.startsWith(MINOR)
    ? undefined
    : `the transcripts are of kubectl 1.${MINOR}, and this one is ${clientVersion.gitVersion}`;
}

interface Kubeconfig {
  contexts: { context: { namespace?: string } }[];
}

/** Runs shell commands with kubectl set up for the subject, each section in a separate folder and namespace. */
export class KubectlSubject {
  readonly isGenuine = EXTERNAL !== undefined;
  readonly #run = systemClock.wall().toString(36).slice(-5);
  readonly #folder = mkdtempSync(join(tmpdir(), 'espalier-kubectl-'));
  #server: ApiServer | undefined;
  #kubeconfig = '';

  /** Like a kube-apiserver alone: no controllers, no simulated workloads. */
  async start(): Promise<void> {
    if (EXTERNAL === undefined)
      this.#server = await startApiServer({
        controllers: { namespace: false, garbage: false, serviceAccount: false, aggregation: false },
      });
    this.#kubeconfig =
      EXTERNAL === undefined ? (this.#server?.kubeconfig ?? '') : readFileSync(EXTERNAL, 'utf8');
    cpSync(join(import.meta.dirname, '../../fixtures/kubectl'), this.#folder, { recursive: true });
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Creates a namespace and returns a function that runs a command in it. */
  async section(name: string): Promise<(command: string) => Promise<string>> {
    const namespace = `${name}-${this.#run}`;
    const config = parseYaml(this.#kubeconfig) as Kubeconfig;
    for (const { context } of config.contexts) context.namespace = namespace;
    const kubeconfig = join(this.#folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, toYaml(config), { mode: 0o600 });
    const run = (command: string): Promise<string> => this.#shell(command, kubeconfig, namespace);
    await run(`kubectl create namespace ${namespace}`);
    return async (command) => this.#normal(await run(command), namespace);
  }

  async #shell(command: string, kubeconfig: string, namespace: string): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      HOME: this.#folder,
      KUBECACHEDIR: join(this.#folder, 'cache'),
      KUBECONFIG: kubeconfig,
      NS: namespace,
      RUN: this.#run,
    };
    const child = spawn('timeout', ['30', 'bash', '-c', `exec 2>&1\n${command}`], { cwd: this.#folder, env });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const [code] = (await once(child, 'close')) as [number];
    const text = output === '' || output.endsWith('\n') ? output : `${output}\n`;
    return code === 0 ? text : `${text}[exit ${code}]\n`;
  }

  /** Output without random values and times, and without trailing or repeated spaces, which depend on ages. */
  #normal(text: string, namespace: string): string {
    const anonymous = text.replaceAll(namespace, 'NS').replaceAll(this.#run, 'RUN');
    return RULES.reduce((so, [from, to]) => so.replace(from, to), anonymous.replace(OURS_ONLY, ''));
  }
}

/** The kube-apiserver of the tests runs without admission of service accounts; ours gives each pod one. */
const OURS_ONLY = /^(?:\s+serviceAccount(?:Name)?: default|Service Account: +default)\n/gm;

const RULES: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'DATE'],
  [/((?:resourceVersion"?|Resource Version): *"?)\d+/g, '$1RV'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/(?:<invalid>|\b(?:\d+m)?\d+s\b|\b\d+y(?:\d+d)?\b)(?=\s)/g, 'AGE'],
  [/\b10\.0\.0\.\d+\b/g, 'ADDRESS'],
  [/(nodePort: |:)3[0-2]\d{3}\b/g, '$1PORT'],
  [/(LIVE|MERGED)-\d+/g, '$1'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  [/[^\s"]*edit-\d+\.yaml/g, 'COPY'],
  [/^[IWE]\d{4} .*\n/gm, ''],
  [/(?<=\S) {2,}/g, '  '],
  [/(storageVersionHash":")[^"]+/g, '$1HASH'],
  [/(Created on: +).*/g, '$1TIME'],
  [/ +$/gm, ''],
];
