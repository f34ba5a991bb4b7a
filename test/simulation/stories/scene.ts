/** A simulated cluster for one story: the landscape and the actions are given, only the interleaving is random. */
import { isFinished } from '../../../src/api/job.ts';
import { annotations } from '../../../src/api/labels.ts';
import { NotFound } from '../../../src/runtime/errors.ts';
import type { Client, Kind } from '../../../src/runtime/types.ts';
import { NAMESPACE, kinds, ownerUid, type Inst, type Item, type JobObject } from '../cluster/objects.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import { Simulation } from '../engine/simulation.ts';
import { templateOf } from '../invariants/below.ts';
import type { ItemModel, NodeModel } from '../landscape/model.ts';
import { User } from '../landscape/user.ts';

export const item = (name: string, more: Partial<ItemModel> = {}): ItemModel => ({
  name,
  type: 'script',
  behaviour: 'ok',
  looks: 1,
  dependsOn: [],
  gives: false,
  onlyOnChange: false,
  rev: 1,
  ...more,
});

export const node = (name: string, more: Partial<NodeModel> = {}): NodeModel => ({
  name,
  rev: 1,
  items: [],
  children: [],
  takes: [],
  gives: false,
  takesTarget: false,
  givesTarget: false,
  targetMap: [],
  annotations: {},
  automatic: undefined,
  ...more,
});

type Wrap = (client: Client, chance: Chance) => Client;

export class Scene {
  readonly simulation: Simulation;
  readonly user: User;
  readonly roots: readonly NodeModel[];
  readonly #jobs = new Map<string, string[]>();

  constructor(
    seed: number,
    roots: NodeModel[],
    { wrapClient, isLagging }: { readonly wrapClient?: Wrap; readonly isLagging?: boolean } = {},
  ) {
    this.simulation = new Simulation({
      seed,
      ...(wrapClient && { wrapClient }),
      ...(isLagging !== undefined && { isLagging }),
    });
    const { server, scheduler } = this.simulation;
    this.roots = roots;
    this.user = new User(roots, { server, scheduler, chance: this.simulation.chance('user') });
    server.onChange(({ before, object }) => {
      const id = object.status?.['jobID'];
      if (object.kind !== 'Installation' || typeof id !== 'string' || id === before?.status?.['jobID'])
        return;
      this.#jobs.set(object.metadata.name, [...(this.#jobs.get(object.metadata.name) ?? []), id]);
    });
    this.simulation.boot();
  }

  /** Creates all roots in the given order, each with a requested job, in a namespace that is ready for them. */
  async begin(): Promise<void> {
    await this.until('there is a Context', () => this.simulation.server.list(kinds.context).length > 0);
    this.user.provide();
    for (const root of this.roots) {
      this.user.createRoot(root);
      await this.until(`${root.name} has a job`, () => this.jobs(root.name) > 0);
    }
  }

  async install(): Promise<void> {
    await this.begin();
    await this.simulation.rest();
  }

  root(name: string): NodeModel {
    const found = this.roots.find((root) => root.name === name);
    if (!found) throw new Error(`this story has no root ${name}`);
    return found;
  }

  inst(name: string): Inst | undefined {
    return this.simulation.server.find(kinds.installation, `${NAMESPACE}/${name}`) as Inst | undefined;
  }

  /** The child of a parent for a template. */
  child(parent: string, template: string): Inst | undefined {
    const uid = this.inst(parent)?.metadata.uid;
    return this.simulation.server
      .list(kinds.installation)
      .find(
        (i) =>
          ownerUid(i) === uid &&
          i.metadata.deletionTimestamp === undefined &&
          i.metadata.annotations?.[annotations.subinstallationName] === template,
      ) as Inst | undefined;
  }

  items(template?: string): Item[] {
    const all = this.simulation.server.list(kinds.item) as unknown as Item[];
    return all.filter((each) => template === undefined || templateOf(each) === template);
  }

  /** The number of jobs of an installation so far. */
  jobs(name: string): number {
    return this.#jobs.get(name)?.length ?? 0;
  }

  phase(name: string): string {
    return this.inst(name)?.status?.phase ?? 'none';
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    await this.simulation.until(what, isSo);
  }

  async untilPhase(name: string, phase: string): Promise<void> {
    await this.until(
      `${name} is in ${phase}`,
      () => this.phase(name) === phase && !isFinished(this.inst(name) as Inst),
    );
  }

  async untilItem(template: string, isSo: (item: Item) => boolean): Promise<void> {
    await this.until(`item ${template}`, () => this.items(template).some(isSo));
  }

  /** Deletes an object at once, with or without finalizers, as a user does with force. */
  force(kind: Kind, name: string): void {
    const { server } = this.simulation;
    const key = `${NAMESPACE}/${name}`;
    try {
      server.write({ verb: 'delete', kind, key }, 'user');
      server.write({ verb: 'merge', kind, key, body: { metadata: { finalizers: null } } }, 'user');
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Requests a job and waits for rest. */
  async again(name: string): Promise<void> {
    this.user.insist([this.root(name)]);
    await this.simulation.rest();
  }
}

export const isAtWork = (object: JobObject): boolean => !isFinished(object);
