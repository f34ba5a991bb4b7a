/** `espalier operators new`: writes a working operator with its kind and tests to a new folder. */
import { UsageError } from '../../errors.ts';
import { compiled, printNext, writeProject } from '../../new-project.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface NewOperatorOptions {
  readonly to?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly plural?: string;
  /** Separated by commas. */
  readonly versions?: string;
  /** Its objects represent resources in another service. */
  readonly external?: boolean;
}

/** The names of an operator and its kind. */
interface OperatorNames {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The one that the operator works with. */
  readonly version: string;
  /** Converted from and to `version`; absent if the kind has one version. */
  readonly older?: string;
}

const NAME = /^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/;
const GROUP = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
const VERSION = /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/;
const PLURAL = /^[a-z][a-z0-9]{0,62}$/;

/** Kinds and types that the skeleton imports. */
const IMPORTED = new Set([
  'ConfigMap',
  'Deployment',
  'Service',
  'Kind',
  'Manager',
  'Obj',
  'View',
  'ExternalHandler',
  'ExternalObject',
]);
/** Groups of Kubernetes, whose CustomResourceDefinitions need an approval. */
const RESERVED = /(^|\.)(k8s|kubernetes)\.io$/;

export function newOperator(name: string, options: NewOperatorOptions, terminal: Terminal): void {
  const names = namesOf(name, options);
  const { kind, plural, group, older } = names;
  const { external: isExternal = false } = options;
  if (isExternal && older !== undefined)
    throw new UsageError(
      '--external supports one version; docs/runtime.md says how to add others to the project',
    );
  const skeleton = 'docs/samples/operators/skeleton';
  const tests = ['operator.test.js', ...(older === undefined ? [] : ['conversion.test.js'])];
  const project = {
    name: `${name}-operator`,
    skeletons: [
      skeleton,
      ...(older === undefined ? [] : [`${skeleton}-versions`]),
      ...(isExternal ? [`${skeleton}-external`] : []),
    ],
    // It has many fields of the runtime; `npm run crd` writes it.
    without: isExternal ? ['crd.yaml'] : [],
    renamed: (text: string) => renamed(isExternal ? withExternalRights(text) : text, names),
    scripts: { crd: compiled('crd.js'), test: compiled('--test', ...tests) },
  };
  const folder = writeProject(project, options.to ?? name);
  printNext(folder, `An operator for the kind ${kind} (${plural}.${group})`, terminal);
}

/** An operator of external resources creates nothing in the cluster, and writes annotations of its objects. */
const withExternalRights = (text: string): string =>
  text
    .replace(/ {2}# Owner references[^]*?(?= {2}- apiGroups: \['', events)/, '')
    .replace('verbs: [get, list, watch]', 'verbs: [get, list, watch, patch]');

/** @throws UsageError if a name is invalid */
function namesOf(name: string, options: NewOperatorOptions): OperatorNames {
  if (!NAME.test(name))
    throw new UsageError(
      `"${name}" is not a valid operator name; use at most 42 lower-case letters, digits and dashes, such as dns-record`,
    );
  const { group = 'example.org', kind = pascal(name) } = options;
  if (!GROUP.test(group))
    throw new UsageError(`"${group}" is not a valid API group; use a domain such as apps.example.org`);
  if (RESERVED.test(group))
    throw new UsageError(`"${group}" is reserved for Kubernetes; use a domain of your own`);
  if (!KIND.test(kind)) throw new UsageError(`"${kind}" is not a valid kind; use a name such as DnsRecord`);
  if (IMPORTED.has(kind))
    throw new UsageError(`the operator imports another ${kind}; give the kind another name with --kind`);
  const plural = options.plural ?? pluralOf(kind.toLowerCase());
  if (!PLURAL.test(plural))
    throw new UsageError(`"${plural}" is not a valid plural; use lower-case letters such as dnsrecords`);
  return { name, group, kind, plural, ...versionsIn(options.versions ?? 'v1alpha1') };
}

function versionsIn(list: string): Pick<OperatorNames, 'version' | 'older'> {
  const versions = list.split(',').map((each) => each.trim());
  const wrong = versions.find((each) => !VERSION.test(each));
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is not a valid version; use versions such as v1alpha1,v1`);
  const [first = '', second, third] = versions;
  if (third !== undefined || first === second)
    throw new UsageError(
      `"${list}" is not one version or two different ones; docs/runtime.md says how to add others`,
    );
  return second === undefined ? { version: first } : { version: second, older: first };
}

const pascal = (name: string): string =>
  name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The English plural of regular words; others need `--plural`. */
const pluralOf = (word: string): string =>
  /[^aeiou]y$/.test(word)
    ? `${word.slice(0, -1)}ies`
    : /(?:s|x|z|ch|sh)$/.test(word)
      ? `${word}es`
      : `${word}s`;

/** Replaces the names of the skeleton; those of the registry in examples stay. */
const renamed = (
  text: string,
  { name, group, kind, plural, version, older = version }: OperatorNames,
): string =>
  text
    .replaceAll("'../skeleton/", "'./")
    .replaceAll(/v1alpha1|v1beta1/g, (found) => (found === 'v1alpha1' ? older : version))
    .replaceAll(/(?<!registry\.)example\.org/g, group)
    .replaceAll('skeleton-operator', `${name}-operator`)
    .replaceAll('Skeleton', kind)
    .replaceAll('skeletons', plural)
    .replaceAll('skeleton', kind.toLowerCase());
