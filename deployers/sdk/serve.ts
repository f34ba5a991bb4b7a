/** `serve`: the main function of a deployer that is a program of its own. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createLogger, levels, type Level } from '../../src/observability/log.ts';
import { EspalierError } from '../../src/runtime/errors.ts';
import { findKubeconfig } from '../../src/runtime/transport/kubeconfig.ts';
import { aborted, onInterrupt } from '../../src/runtime/manager/signals.ts';
import type { DeployerPlugin } from './deployer.ts';
import { startDeployer, type DeployerProcessOptions } from './process.ts';
import { readSettings, SettingsError } from './settings.ts';

/** Wrong options; the message says which. */
class WrongOptions extends Error {}

const help = ({ name, type, version }: DeployerPlugin): string => `${name} ${version}

Serves deploy items of type ${type} until SIGTERM or Ctrl-C.

Options:
  --kubeconfig <file>            the cluster with the deploy items; default KUBECONFIG, the pod's account, ~/.kube/config
  --landscaper-kubeconfig <file> the same
  --config <file>                a Configuration: identity, targetSelector, claimUntargeted, controller.workers
  --lease <namespace/name>       share the deploy items with all processes of this deployer that name the same
  --metrics-address <host:port>  serve /metrics, /healthz and /readyz here
  --log-level <level>            ${levels.join(', ')}; default info
  --help                         show this page
`;

const options = {
  kubeconfig: { type: 'string' },
  'landscaper-kubeconfig': { type: 'string' },
  config: { type: 'string' },
  lease: { type: 'string' },
  'metrics-address': { type: 'string' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Runs a deployer until SIGTERM or Ctrl-C. Mistakes are one line on standard error and exit code 2; what goes wrong
 * later is one line and exit code 1.
 * @param args without the program and the script
 */
export async function serve<C, S>(
  plugin: DeployerPlugin<C, S>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const wanted = read(plugin, args);
    if (wanted) await run(plugin, wanted);
  } catch (error) {
    const isMistake = error instanceof WrongOptions || error instanceof SettingsError;
    if (!isMistake && !(error instanceof EspalierError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = isMistake ? 2 : 1;
  }
}

async function run<C, S>(plugin: DeployerPlugin<C, S>, wanted: DeployerProcessOptions): Promise<void> {
  const interruption = onInterrupt();
  try {
    const deployer = await startDeployer(plugin, wanted);
    const { health } = deployer;
    wanted.log?.info({ type: plugin.type, ...(health !== undefined && { health }) }, 'serving');
    await aborted(interruption.signal);
    await deployer.stop();
  } finally {
    interruption.release();
  }
}

/** @returns undefined when only help was wanted */
function read(plugin: DeployerPlugin, args: readonly string[]): DeployerProcessOptions | undefined {
  const values = parsed(args);
  if (values.help) {
    process.stdout.write(help(plugin));
    return undefined;
  }
  const file = values.kubeconfig ?? values['landscaper-kubeconfig'];
  const kubeconfig = file === undefined ? findKubeconfig(process.env) : { file };
  if (!kubeconfig) throw new WrongOptions('which cluster? Name a kubeconfig with --kubeconfig or KUBECONFIG');
  const { settings, identity } = values.config === undefined ? {} : settingsIn(values.config);
  const address = values['metrics-address'];
  return {
    kubeconfig,
    log: createLogger({ level: levelOf(values['log-level']), pretty: process.stderr.isTTY }),
    ...(settings && { settings }),
    ...(identity !== undefined && { identity }),
    ...(values.lease !== undefined && { lease: leaseOf(values.lease) }),
    ...(address !== undefined && { metricsAddress: addressOf(address) }),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    throw new WrongOptions(`${(error as Error).message}; see --help`);
  }
}

function settingsIn(file: string): ReturnType<typeof readSettings> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new WrongOptions(`cannot read --config ${file} (${(error as NodeJS.ErrnoException).code ?? ''})`);
  }
  return readSettings(text, file);
}

function levelOf(text: string | undefined): Level {
  const level = levels.find((known) => known === (text ?? 'info'));
  if (!level) throw new WrongOptions(`--log-level ${text ?? ''} is none; it can be ${levels.join(', ')}`);
  return level;
}

function leaseOf(text: string): { namespace: string; name: string } {
  const [namespace = '', name = '', ...more] = text.split('/');
  if (!namespace || !name || more.length > 0) throw new WrongOptions(`--lease ${text} is not namespace/name`);
  return { namespace, name };
}

function addressOf(text: string): { host: string; port: number } {
  const match = /^(.*):(\d{1,5})$/.exec(text);
  if (!match) throw new WrongOptions(`--metrics-address ${text} is not host:port`);
  return { host: match[1]?.replace(/^\[|\]$/g, '') || '0.0.0.0', port: Number(match[2]) };
}
