/** `espalier targets create`: prints a Target, optionally with a Secret for its credentials. */
import { readFileSync } from 'node:fs';
import { API_VERSION, GROUP } from '../../../api/labels.ts';
import { targetKind } from '../../../api/kinds/target.ts';
import { refusalForJob } from '../../../api/validation/index.ts';
import { forbiddenInContent } from '../../../../deployers/sdk/kubeconfig.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../../lib/names.ts';
import { printJson, printObjects, printYaml } from '../../terminal/documents.ts';
import type { ObjectFormat } from '../../terminal/output-option.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { readYamlFile, writePrivateFile } from '../../files.ts';
import { targetKubeconfig } from './kubeconfig.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface CreateTargetOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly type?: string;
  readonly targetKubeconfig?: string;
  readonly kubeconfig?: string;
  readonly targetContext?: string;
  readonly flatten?: true;
  readonly oidcServer?: string;
  readonly oidcCa?: string;
  readonly audience?: readonly string[];
  readonly self?: true;
  readonly serviceAccount?: string;
  readonly expiration?: number;
  readonly config?: string;
  readonly secret?: string;
  /** yaml or json; earlier versions, and landscaper-cli, expect the output file here. */
  readonly output?: string;
  readonly outputFile?: string;
}

const CLUSTER = `${GROUP}/kubernetes-cluster`;
/** landscaper-cli's names for the type, which it takes as the first argument instead of the target's name. */
const CLUSTER_TYPE_NAMES: readonly string[] = ['kubernetes-cluster', 'k8s-cluster', 'c'];

/** Refuses names that no API server accepts. @throws UsageError */
function refuseName(what: string, name: string, rule: (text: string) => string[]): void {
  const [problem] = rule(name);
  if (problem !== undefined) throw new UsageError(`"${name}" is not a valid name of a ${what}: ${problem}`);
}

/** @param first the name, or, as in landscaper-cli, the type of the target */
export function createTarget(
  first: string | undefined,
  options: CreateTargetOptions,
  terminal: Terminal,
): number {
  const name = nameOf(first, options);
  refuseName('target', name, isDns1123Subdomain);
  if (options.secret !== undefined) refuseName('secret', options.secret, isDns1123Subdomain);
  if (options.namespace !== undefined) refuseName('namespace', options.namespace, isDns1123Label);
  const type = options.type ?? CLUSTER;
  const content = contentOf(options, type);
  const metadata = (own: string): { readonly name: string } => ({
    name: own,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
  });
  const target = {
    apiVersion: API_VERSION,
    kind: targetKind.kind,
    metadata: metadata(name),
    spec: {
      type,
      ...(options.secret === undefined
        ? { config: content }
        : { secretRef: { name: options.secret, key: KEY } }),
    },
  };
  const refusal = refusalForJob('targets', target);
  if (refusal !== undefined) throw new UsageError(`target ${name} is not valid: ${refusal}`);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata(options.secret ?? ''),
    stringData: { [KEY]: JSON.stringify(content) },
  };
  const documents = options.secret === undefined ? [target] : [secret, target];
  const { format, file } = outputOf(options, terminal);
  const text = format === 'json' ? printJson(asList(documents)) : printObjects(documents, format);
  if (file === undefined) terminal.print(text);
  else {
    writePrivateFile(file, `${text}\n`);
    terminal.print(`Wrote target to ${file}`);
  }
  for (const line of furtherRequirements(options, terminal)) terminal.warn(line);
  return exitCodes.ok;
}

const KEY = 'config';

/** One object, or a List that kubectl can apply. */
const asList = (documents: readonly object[]): unknown =>
  documents.length === 1 ? documents[0] : { apiVersion: 'v1', kind: 'List', items: documents };

interface Output {
  readonly format: ObjectFormat;
  readonly file: string | undefined;
}

/** Format and file. A file name after -o works as in landscaper-cli, with a note. @throws UsageError */
function outputOf({ output = 'yaml', outputFile: file }: CreateTargetOptions, terminal: Terminal): Output {
  if (output === 'yaml' || output === 'json' || output === 'name') return { format: output, file };
  if (file !== undefined) throw new UsageError(`-o: "${output}" is not a format; choose yaml, json or name`);
  // A word without a dot or slash is rather a format that does not exist than a file.
  if (!/[./]/.test(output))
    throw new UsageError(
      `-o: "${output}" is not a format; choose yaml, json or name, or name an output file with --output-file`,
    );
  terminal.warn(`-o with a file name is deprecated; use --output-file ${output}`);
  return { format: 'yaml', file: output };
}

function nameOf(first: string | undefined, { name }: CreateTargetOptions): string {
  const isTypeName = first !== undefined && CLUSTER_TYPE_NAMES.includes(first);
  if (first !== undefined && !isTypeName && name !== undefined && name !== first)
    throw new UsageError(`two names for the target: ${first} and, with --name, ${name}; give only one`);
  const chosen = name ?? (isTypeName ? undefined : first);
  if (chosen === undefined)
    throw new UsageError('no name given for the target; write it as an argument, or set --name');
  return chosen;
}

// ---------------------------------------------------------------- content

/** The options that define the cluster; exactly one is required. */
const CLUSTER_OPTIONS = {
  '--target-kubeconfig FILE': (o: CreateTargetOptions) => o.targetKubeconfig ?? o.kubeconfig,
  '--oidc-server URL': (o: CreateTargetOptions) => o.oidcServer,
  '--self': (o: CreateTargetOptions) => o.self,
  '--config FILE': (o: CreateTargetOptions) => o.config,
} as const;

function contentOf(options: CreateTargetOptions, type: string): unknown {
  const taken = Object.entries(CLUSTER_OPTIONS).filter(([, given]) => given(options) !== undefined);
  if (taken.length !== 1) {
    const ways = Object.keys(CLUSTER_OPTIONS).join(', ');
    throw new UsageError(
      taken.length === 0
        ? `no cluster given for the target; set one of ${ways}`
        : `more than one cluster given for the target; set only one of ${taken.map(([way]) => way).join(', ')}`,
    );
  }
  const kubeconfig = options.targetKubeconfig ?? options.kubeconfig;
  if (options.config !== undefined) return ownContent(options.config, type);
  if (type !== CLUSTER)
    throw new UsageError(`a target of type ${type} needs its content; give it with --config`);
  if (kubeconfig !== undefined) {
    const isFlattened = options.flatten === true;
    return {
      kubeconfig: targetKubeconfig({ file: kubeconfig, context: options.targetContext, isFlattened }),
    };
  }
  const account = options.serviceAccount;
  if (account === undefined)
    throw new UsageError(
      'which identity should deployers use on the target cluster? Name the service account with --service-account',
    );
  const common = {
    serviceAccount: { name: account },
    ...(options.expiration !== undefined && { expirationSeconds: options.expiration }),
  };
  if (options.self) return { selfConfig: common };
  return {
    oidcConfig: {
      ...oidcServer(options),
      ...common,
      ...(options.audience && { audience: options.audience }),
    },
  };
}

function oidcServer({ oidcServer: server = '', oidcCa }: CreateTargetOptions): object {
  if (!URL.canParse(server) || !server.startsWith('https://'))
    throw new UsageError(`--oidc-server: write it as https://HOST:PORT, instead of ${server}`);
  if (oidcCa === undefined) return { server };
  let pem: string;
  try {
    pem = readFileSync(oidcCa, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${oidcCa} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`${oidcCa} contains no certificate in PEM format, which --oidc-ca needs`);
  return { server, caData: Buffer.from(pem).toString('base64') };
}

function ownContent(file: string, type: string): unknown {
  const content = readYamlFile(file);
  const problem = type === CLUSTER ? forbiddenInContent(content) : undefined;
  if (problem !== undefined) throw new UsageError(`${file}: ${problem}`);
  return content;
}

// ---------------------------------------------------------------- further requirements

/** Notes for targets without credentials, which need additional configuration. */
function furtherRequirements(options: CreateTargetOptions, { paintError }: Terminal): readonly string[] {
  const { serviceAccount: account, namespace = 'the namespace of the target' } = options;
  if (account === undefined || (!options.self && options.oidcServer === undefined)) return [];
  const where = options.self ? 'this cluster' : `the cluster ${options.oidcServer ?? ''}`;
  return [
    paintError.dim(
      `It needs a ServiceAccount ${account} in ${namespace}, for which deployers may request tokens`,
    ),
    paintError.dim(
      '(verb create on serviceaccounts/token), and which has the rights that deployers need on the target:',
    ),
    ...(options.self
      ? []
      : [
          paintError.dim(`${where} has to trust the issuer of these tokens` + audienceNote(options)),
          paintError.dim('and name the account as its --oidc-username-claim and --oidc-username-prefix say.'),
        ]),
    printYaml([binding(options, account)]),
  ];
}

const audienceNote = ({ audience }: CreateTargetOptions): string =>
  audience ? `, for the audience ${audience.join(', ')},` : '';

function binding(options: CreateTargetOptions, account: string): object {
  const namespace = options.namespace ?? 'NAMESPACE';
  const group = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `espalier-target-${account}` },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      options.self
        ? { kind: 'ServiceAccount', name: account, namespace }
        : { apiGroup: group, kind: 'User', name: `PREFIX:system:serviceaccount:${namespace}:${account}` },
    ],
  };
}
