/** The options of a deployer that is a separate program. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { levels, type Level } from '../../src/observability/log.ts';
import { findKubeconfig, type KubeconfigSource } from '../../src/runtime/transport/kubeconfig.ts';
import type { DeployerPlugin } from './deployer.ts';
import type { DeployerProcessOptions } from './process.ts';
import { readSettings } from './settings.ts';

/** Invalid options; the message names them. */
export class WrongOptions extends Error {}

/** What the arguments request: to run, or to show the help page. */
type ServeOptions = (Omit<DeployerProcessOptions, 'log'> & { readonly level: Level }) | 'help';

export const helpOf = ({ name, type, version }: DeployerPlugin): string => `${name} ${version}

Handles deploy items of type ${type} until SIGTERM or Ctrl-C.

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
 * @param args without the program and the script
 * @param find the cluster if the arguments do not name one
 * @param onNote receives a message for each key of the configuration without effect
 * @throws WrongOptions, SettingsError
 */
export function readServeOptions(
  args: readonly string[],
  find: () => KubeconfigSource | undefined = () => findKubeconfig(process.env),
  onNote?: (problem: string) => void,
): ServeOptions {
  const values = parsed(args);
  if (values.help) return 'help';
  const file = values.kubeconfig ?? values['landscaper-kubeconfig'];
  const kubeconfig = file === undefined ? find() : { file };
  if (!kubeconfig) throw new WrongOptions('no cluster given; set --kubeconfig or KUBECONFIG');
  const { settings, identity } = values.config === undefined ? {} : settingsIn(values.config, onNote);
  const address = values['metrics-address'];
  return {
    kubeconfig,
    level: levelOf(values['log-level']),
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

function settingsIn(
  file: string,
  onNote: ((problem: string) => void) | undefined,
): ReturnType<typeof readSettings> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new WrongOptions(`cannot read --config ${file} (${(error as NodeJS.ErrnoException).code ?? ''})`);
  }
  return readSettings(text, file, { refusesUnknown: true, ...(onNote && { onNote }) });
}

function levelOf(text: string | undefined): Level {
  const level = levels.find((known) => known === (text ?? 'info'));
  if (!level)
    throw new WrongOptions(`--log-level ${text ?? ''} is not a valid level; use one of ${levels.join(', ')}`);
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
