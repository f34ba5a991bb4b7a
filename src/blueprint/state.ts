/**
 * State that executions keep between jobs: the names of its secrets, their contents, and which executions read them.
 */
import type { Installation } from '../api/kinds/installation.ts';
import type { ApiObject } from '../api/shared.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Name } from '../lib/hash.ts';
import { controllerReference, type View } from '../lib/objects.ts';
import { toYaml } from '../lib/yaml.ts';
import { textsHere, type TextReader } from '../lib/yaml-texts.ts';
import type { TemplateExecutor } from '../api/blueprint.ts';
import type { RenderedState } from '../templating/render.ts';
import { isInterruption } from './interruptions.ts';
import type { LoadedBlueprint } from './load.ts';

const KEY = 'config';

/** A state document to be stored in the secret of that name. */
export interface StateUpdate extends RenderedState {
  readonly secretName: string;
}

/** The states of one reconcile: as stored, with the changes of its executions so far. */
export class States {
  readonly #stored: ReadonlyMap<string, unknown>;
  #noted: ReadonlyMap<string, StateUpdate> = new Map();

  /** @param stored documents by the name of their secret; an execution without one has no state yet */
  constructor(stored: ReadonlyMap<string, unknown> = new Map()) {
    this.#stored = stored;
  }

  /** The state that the execution reads: an empty map at first. */
  get(secretName: string): unknown {
    return this.#noted.get(secretName)?.state ?? this.#stored.get(secretName) ?? {};
  }

  note(update: StateUpdate): void {
    this.#noted = new Map([...this.#noted, [update.secretName, update]]);
  }

  /** All documents, to be masked. */
  get documents(): readonly unknown[] {
    return [...this.#stored.values(), ...this.updates.map(({ state }) => state)];
  }

  /** The states to store, one for each secret. */
  get updates(): readonly StateUpdate[] {
    return [...this.#noted.values()];
  }

  /** Work that may be interrupted and repeated: the repetition reads the same state as the first attempt. */
  async attempt<T>(work: () => T | Promise<T>): Promise<T> {
    const before = this.#noted;
    try {
      return await work();
    } catch (error) {
      if (isInterruption(error)) this.#noted = before;
      throw error;
    }
  }
}

/**
 * Deploy and sub-installation executions of the same name share a secret, as in upstream: with names of our own, the
 * state would be lost when the controllers are exchanged.
 */
export function stateSecretName(installation: string, kind: 'deploy' | 'export', execution: string): string {
  return sha1Name(`${installation}/${kind}${execution}`);
}

/**
 * Secrets to read before rendering, each once, in the order of the blueprint: those of executions that may read their
 * state.
 */
export function stateSecretNames(
  installation: string,
  { info, files }: Pick<LoadedBlueprint, 'info' | 'files'>,
  group: 'deploy' | 'export',
): readonly string[] {
  const executions =
    group === 'export'
      ? (info.exportExecutions ?? [])
      : [...(info.subinstallationExecutions ?? []), ...(info.deployExecutions ?? [])];
  const withState = executions.filter((execution) => mayUseState(execution, files));
  return [...new Set(withState.map(({ name = '' }) => stateSecretName(installation, group, name)))];
}

/**
 * Most templates have no state, and reading a secret costs a request in every job. A template reads the state by its
 * name, or with all values: a bare `.` or `$`, which an included file also receives.
 */
function mayUseState(
  { type, template, file = '' }: View<TemplateExecutor>,
  files: LoadedBlueprint['files'],
): boolean {
  if (type !== 'GoTemplate') return true;
  const text = typeof template === 'string' ? template : Buffer.from(files.read(file) ?? []).toString('utf8');
  if (/state/i.test(text)) return true;
  return [...text.matchAll(/{{[^]*?}}/g)].some(([action]) => WHOLE_VALUES.test(action));
}

const WHOLE_VALUES = /(?<![\w)\]"`])\.(?![\w.])|\$(?![\w.])/;

/**
 * The document in a state secret; an empty map if there is none.
 * @throws TextUnreadable, TextsTooLarge
 */
export async function readState(
  secret: { readonly data?: Readonly<Record<string, string>> | undefined },
  reader: TextReader = textsHere,
): Promise<unknown> {
  const encoded = secret.data?.[KEY];
  if (encoded === undefined) return {};
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const [state] = await reader.readTexts({ texts: [[KEY, text]] });
  return state?.value ?? {};
}

/** A Secret of the core API; `data` is base64. */
interface StateSecret extends ApiObject {
  type: 'Opaque';
  data: Record<string, string>;
}

/** In upstream's format: JSON, or YAML for Spiff. */
export function stateData({ state, format }: StateUpdate): Record<string, string> {
  const text = format === 'yaml' ? toYaml(state) : goJson(state);
  return { [KEY]: Buffer.from(text).toString('base64') };
}

/** The secret that stores a state, controlled by the installation. */
export function stateSecret(installation: View<Installation>, update: StateUpdate): StateSecret {
  const { namespace } = installation.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: update.secretName,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [controllerReference(installation)],
    },
    type: 'Opaque',
    data: stateData(update),
  };
}
