/**
 * Reads the secrets that store the state of executions. They are not cached; each is read at most once per
 * reconcile.
 */
import { readState, States, type StateUpdate } from '../../../src/blueprint/state.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { secretKind, type Secret } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, View } from '../../../src/runtime/types.ts';
import { textsHere, TextsTooLarge, TextUnreadable, type TextReader } from '../../../src/lib/yaml-texts.ts';
import type { StateUpsert } from '../snapshot.ts';

export class StateSecrets {
  readonly #client: Pick<Client, 'get'>;
  readonly #namespace: string;
  readonly #texts: TextReader;
  readonly #read = new Map<string, View<Secret> | undefined>();

  constructor(client: Pick<Client, 'get'>, namespace: string, texts: TextReader = textsHere) {
    this.#client = client;
    this.#namespace = namespace;
    this.#texts = texts;
  }

  /** @throws PhaseError for a secret that contains no valid YAML, or too much of it */
  async states(names: readonly string[]): Promise<States> {
    const stored = new Map<string, unknown>();
    const secrets = await Promise.all(names.map((name) => this.#secret(name)));
    for (const [i, name] of names.entries()) {
      const secret = secrets[i];
      if (secret) stored.set(name, await this.#documentIn(secret));
    }
    return new States(stored);
  }

  async upserts(updates: readonly StateUpdate[]): Promise<readonly StateUpsert[]> {
    const found: StateUpsert[] = [];
    for (const update of updates) found.push({ update, existing: await this.#secret(update.secretName) });
    return found;
  }

  async #secret(name: string): Promise<View<Secret> | undefined> {
    if (!this.#read.has(name)) {
      this.#read.set(name, await getIfThere(this.#client, secretKind, `${this.#namespace}/${name}`));
    }
    return this.#read.get(name);
  }

  async #documentIn(secret: View<Secret>): Promise<unknown> {
    try {
      return await readState(secret, this.#texts);
    } catch (cause) {
      const isTooLarge = cause instanceof TextsTooLarge;
      if (!isTooLarge && !(cause instanceof TextUnreadable)) throw cause;
      const why = isTooLarge ? `is too large: ${cause.message}` : 'is not valid YAML';
      const { name } = secret.metadata;
      const message = `secret ${this.#namespace}/${name} should contain the state of an execution, but its key "config" ${why}; correct it, or delete the secret to start without state`;
      throw new PhaseError('ReadState', 'Template', message, [], { cause });
    }
  }
}
