/** `espalier install`: installs the product into a cluster, or updates it. */
import { withCluster } from '../../cluster.ts';
import { printObjects } from '../../terminal/documents.ts';
import type { ObjectFormat } from '../../terminal/output-option.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { applyProduct, hasWebhooks, type Outcome } from './apply.ts';
import { NAME } from './names.ts';
import { printedObjects } from './objects.ts';
import { removeConsole, removeWebhooks } from './removal.ts';
import { missingFolders, settingsFrom, type InstallOptions } from './settings.ts';
import type { ClusterOptions } from '../../kubeconfig.ts';
import type { LogOptions } from '../../logging.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface InstallCommandOptions extends InstallOptions, ClusterOptions, LogOptions {
  readonly dryRun?: true;
  readonly output?: ObjectFormat;
}

export async function install(options: InstallCommandOptions, terminal: Terminal): Promise<number> {
  if (options.output !== undefined && !options.dryRun) {
    throw new UsageError('-o is only valid with --dry-run; add --dry-run, or remove -o');
  }
  const settings = settingsFrom(options, notesTo(terminal));
  for (const path of missingFolders(settings))
    terminal.warn(`warning: ${path}: pods do not have this path; ${remedyFor(path)}`);
  if (options.dryRun) {
    const items = printedObjects(settings);
    terminal.print(printObjects(items, options.output ?? 'yaml'));
    return exitCodes.ok;
  }
  const { namespace } = settings;
  const tally = { created: 0, changed: 0, unchanged: 0, removed: 0 };
  const report = (outcome: Outcome, what: string, fields: readonly string[] = []): void => {
    tally[outcome]++;
    const more = fields.length > 0 ? ` (${fields.join(', ')})` : '';
    const word = outcome.padEnd('unchanged'.length);
    terminal.print(`${outcome === 'unchanged' ? terminal.paint.dim(word) : word}  ${what}${more}`);
  };
  // The location of all installed objects, not the namespace of the kubeconfig.
  await withCluster(options, terminal, async ({ client, clock }) => {
    await applyProduct(settings, { client, clock, report });
    const removed = (what: string): void => {
      report('removed', what);
    };
    if (!settings.console) await removeConsole({ client, clock, namespace, removed });
    if (options.webhooks === false && !settings.webhooks) {
      await removeWebhooks({ client, clock, namespace, removed });
    } else if (!settings.webhooks && (await hasWebhooks(client, namespace))) {
      terminal.print(
        'The webhooks of an earlier call are not changed; --webhooks updates them, --no-webhooks removes them.',
      );
    }
  });
  const hasChanged = tally.created + tally.changed + tally.removed > 0;
  terminal.print(
    hasChanged
      ? `Watch it start with: kubectl rollout status deployment/${NAME} -n ${namespace}`
      : 'Nothing to change.',
  );
  return exitCodes.ok;
}

/** The chart value that mounts a path of the configuration. */
function remedyFor(path: string): string {
  if (path.startsWith('registry.oci.configFiles'))
    return 'name a Secret with the file in registries.secrets, and remove the path';
  if (path.startsWith('registry.caFiles'))
    return 'name a ConfigMap or Secret with the file in caBundle, and remove the path';
  return 'mount it with extraVolumes and extraVolumeMounts';
}

/** Writes notes to standard error, separate from the output. */
const notesTo = (terminal: Terminal) => ({
  warn: (_fields: object, text: string) => {
    terminal.warn(`warning: ${text}`);
  },
  info: (_fields: object, text: string) => {
    terminal.warn(`note: ${text}`);
  },
});
