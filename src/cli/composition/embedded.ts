/** Starts the embedded API server for commands: with a kubeconfig file, and errors that mention the option. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { startApiServer, type ApiServer, type ApiServerOptions } from '../../apiserver/server.ts';
import { isObject } from '../../lib/objects.ts';
import { parseYaml, toYaml } from '../../lib/yaml.ts';
import type { Logger } from '../../observability/log.ts';
import { CommandError, UsageError } from '../errors.ts';

export interface EmbeddedOptions {
  readonly host?: string;
  /** undefined: the previous port of the data folder, or any free one. */
  readonly port?: number | undefined;
  /** Folder that stores the objects; undefined: in memory. */
  readonly data?: string | undefined;
  /** Whether workloads become ready although no container runs. */
  readonly simulate: boolean;
  /** Kubernetes controllers to simulate; default all, none with `none`. */
  readonly controllers?: readonly string[] | undefined;
  /** Namespace of the kubeconfig's context. */
  readonly namespace?: string | undefined;
  /** Where `announce` writes the kubeconfig; default: in the data folder, or in a temporary folder, at the start. */
  readonly kubeconfigFile?: string | undefined;
  readonly log: Logger;
}

export interface Embedded {
  readonly url: string;
  /** Content of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  /**
   * Call it when clients can use the server: creates `options.kubeconfigFile`, so that scripts can wait for the file.
   * @throws CommandError if it cannot be written
   */
  announce(): void;
  /** Stops the server, and deletes the kubeconfig if it cannot be used again. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const OWNER_ONLY = 0o600;

/** @throws CommandError if the server cannot listen, or the kubeconfig cannot be written */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { data } = options;
  const host = options.host ?? HOST;
  const port = options.port ?? (data === undefined ? 0 : previousPort(join(data, KUBECONFIG)));
  const server = await listening({ host, port }, options);
  try {
    const kubeconfig = inNamespace(server.kubeconfig, options.namespace);
    const file = writeKubeconfig(kubeconfig, options);
    return {
      url: server.url,
      kubeconfig,
      kubeconfigFile: file.path,
      announce: file.announce,
      async close() {
        await server.close();
        file.remove();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function listening(
  listen: { readonly host: string; readonly port: number },
  { data, simulate, controllers, log }: EmbeddedOptions,
): Promise<ApiServer> {
  const settings: ApiServerOptions = {
    listen,
    simulate,
    log,
    ...(controllers && { controllers: chosenControllers(controllers) }),
    ...(data !== undefined && { storage: { kind: 'file', dir: resolve(data) } }),
  };
  try {
    return await startApiServer(settings);
  } catch (error) {
    const address = `${listen.host}:${String(listen.port)}`;
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw new CommandError(
          `cannot listen on ${address}: the port is in use; choose another with --port, or 0 for any free one`,
          { cause: error },
        );
      case 'EACCES':
      case 'EPERM':
        throw new CommandError(
          `cannot listen on ${address}, or write to the data folder: permission denied; choose another --port or --data`,
          { cause: error },
        );
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
        throw new CommandError(
          `cannot listen on ${address}: it is not an address of this machine; choose another --host`,
          {
            cause: error,
          },
        );
      case 'EEXIST':
      case 'ENOTDIR':
        throw new CommandError(
          `cannot keep data in ${data ?? ''}: it is, or lies in, a file; choose a folder with --data`,
          {
            cause: error,
          },
        );
      default:
        throw error;
    }
  }
}

const controllerNames = ['namespace', 'garbage', 'serviceAccount', 'eventExpiry'] as const;

/** @throws UsageError for unknown names */
function chosenControllers(wanted: readonly string[]): NonNullable<ApiServerOptions['controllers']> {
  const names = wanted.filter((name) => name !== 'none');
  const unknown = names.filter((name) => !(controllerNames as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new UsageError(
      `there is no controller "${unknown.join('", "')}"; known are ${controllerNames.join(', ')}, and none`,
    );
  return Object.fromEntries(controllerNames.map((name) => [name, names.includes(name)]));
}

// ---------------------------------------------------------------- kubeconfig

const KUBECONFIG = 'kubeconfig';

/** The port is reused, so that a kubeconfig stays valid when the server is restarted on the same folder. */
function previousPort(file: string): number {
  try {
    const document = parseYaml(readFileSync(file, 'utf8'));
    const clusters = isObject(document) && Array.isArray(document['clusters']) ? document['clusters'] : [];
    const [first] = clusters as readonly { readonly cluster?: { readonly server?: string } }[];
    return Number(new URL(first?.cluster?.server ?? '').port);
  } catch {
    return 0;
  }
}

/** The same kubeconfig with another namespace in its contexts. */
export function inNamespace(kubeconfig: string, namespace: string | undefined): string {
  if (namespace === undefined) return kubeconfig;
  const document = parseYaml(kubeconfig) as { contexts: { context: object }[] };
  const contexts = document.contexts.map((entry) => ({ ...entry, context: { ...entry.context, namespace } }));
  return toYaml({ ...document, contexts });
}

interface KubeconfigFile {
  readonly path: string;
  readonly announce: () => void;
  readonly remove: () => void;
}

const nothing = (): void => undefined;

function writeKubeconfig(text: string, { kubeconfigFile, data }: EmbeddedOptions): KubeconfigFile {
  // The kubeconfig in the data folder also stores the port for the next start.
  const inData = data === undefined ? undefined : resolve(data, KUBECONFIG);
  const wanted = kubeconfigFile === undefined ? undefined : resolve(kubeconfigFile);
  if (inData !== undefined) writeOrFail(inData, text);
  if (wanted !== undefined && wanted !== inData) return announcedFile(wanted, text);
  if (inData !== undefined) return { path: inData, announce: nothing, remove: nothing };
  const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
  const path = join(folder, KUBECONFIG);
  writeFileSync(path, text, { mode: OWNER_ONLY });
  return {
    path,
    announce: nothing,
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Written at the start, to fail early, with another name. The file of an earlier server would be taken for this one's. */
function announcedFile(path: string, text: string): KubeconfigFile {
  const early = `${path}.starting`;
  writeOrFail(early, text);
  orFail(path, () => {
    rmSync(path, { force: true });
  });
  return {
    path,
    announce() {
      orFail(path, () => {
        renameSync(early, path);
      });
    },
    remove() {
      rmSync(early, { force: true });
    },
  };
}

const writeOrFail = (path: string, text: string): void => {
  orFail(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: OWNER_ONLY });
  });
};

function orFail(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new CommandError(
      `cannot write the kubeconfig to ${path} (${code}); choose another file with --write-kubeconfig`,
      { cause: error },
    );
  }
}
