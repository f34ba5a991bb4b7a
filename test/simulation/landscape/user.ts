/** The user: applies, changes, interrupts and deletes, and edits objects by hand that belong to controllers. */
import { annotations, operations } from '../../../src/api/labels.ts';
import { isBeingDeleted } from '../../../src/api/job.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { AlreadyExists, ApiError } from '../../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { NAMESPACE, kinds, nameOf, type Inst, type Stored } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import type { Scheduler } from '../../../src/testing/engine/scheduler.ts';
import { heal, mutate } from './generate.ts';
import { USER_DATA, USER_TARGET, type NodeModel } from './model.ts';
import { TARGET_TYPE, installationOf, specOf } from './render.ts';

const actions = {
  reconcile: 6,
  change: 6,
  changeSilently: 1,
  interrupt: 2.5,
  interruptBelow: 1,
  delete: 1.5,
  meddle: 1.5,
  changeData: 1,
  recreate: 2,
} as const;

export class User {
  readonly roots: NodeModel[];
  /** Value of the data object that the user provides. */
  data = 'v1';
  readonly #server: Server;
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;

  constructor(roots: NodeModel[], ports: { server: Server; scheduler: Scheduler; chance: Chance }) {
    this.roots = roots;
    this.#server = ports.server;
    this.#scheduler = ports.scheduler;
    this.#chance = ports.chance;
  }

  // -------------------------------------------------------------- the usual way

  /** Creates everything, in any order. */
  begin(): void {
    this.provide();
    for (const root of this.#chance.shuffled(this.roots)) {
      this.#scheduler.add(() => this.createRoot(root), this.#chance.between(0, 3_000));
    }
  }

  /** Creates the objects that roots may import. */
  provide(): void {
    this.#create(kinds.dataObject, {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name: USER_DATA, namespace: NAMESPACE },
      data: this.data,
    } as Obj);
    this.#create(kinds.target, {
      apiVersion: API_VERSION,
      kind: 'Target',
      metadata: { name: USER_TARGET, namespace: NAMESPACE },
      spec: { type: TARGET_TYPE, config: { any: 'thing' } },
    } as Obj);
  }

  /** Performs this many actions within this time, at random moments. */
  act(count: number, withinMs: number): void {
    for (let i = 0; i < count; i++) {
      this.#scheduler.add(() => this.#doMore(), this.#chance.between(100, withinMs));
    }
  }

  /** An action right after another one reaches the controllers while they work. */
  #doMore(): void {
    this.#doSomething();
    if (this.#chance.happens(0.5)) this.#scheduler.add(() => this.#doMore(), this.#chance.between(1, 1_000));
  }

  createRoot(root: NodeModel): void {
    const object = installationOf(root);
    object.metadata.annotations = { ...object.metadata.annotations, ...asked('reconcile') };
    this.#create(kinds.installation, object);
  }

  /** Applies the desired state, and requests a job of each root. */
  insist(roots: readonly NodeModel[]): void {
    for (const root of roots) {
      if (!this.#find(root)) this.createRoot(root);
      else this.#apply(root, asked('reconcile'));
    }
  }

  /** From now on wants only what is possible. */
  heal(): void {
    heal(this.roots);
  }

  deleteRoot(root: NodeModel, notes: Readonly<Record<string, string>> = {}): void {
    if (!this.#find(root)) return;
    if (Object.keys(notes).length > 0) this.annotate(root.name, notes);
    this.#delete(kinds.installation, root.name);
  }

  annotate(name: string, notes: Readonly<Record<string, string>>, kind: Kind = kinds.installation): void {
    this.#patch(kind, name, { metadata: { annotations: notes } });
  }

  isGoing(root: NodeModel): boolean {
    const found = this.#find(root);
    return found !== undefined && isBeingDeleted(found.metadata);
  }

  // -------------------------------------------------------------- other actions

  #doSomething(): void {
    const chance = this.#chance;
    const root = chance.pick(this.roots);
    const what = chance.weighted(actions);
    switch (what) {
      case 'reconcile':
        this.annotate(root.name, asked('reconcile'));
        return;
      case 'interrupt':
        this.annotate(root.name, asked('interrupt'));
        return;
      case 'change':
      case 'changeSilently': {
        const change = mutate(root, chance);
        this.#note(() => `wants a change of ${change}`);
        this.#apply(root, what === 'change' ? asked('reconcile') : {});
        return;
      }
      case 'delete': {
        const notes = {
          ...(chance.happens(0.3) && { [annotations.deleteWithoutUninstall]: 'true' }),
          ...(chance.happens(0.4) && { [annotations.deleteIgnoreSuccessors]: 'true' }),
        };
        this.deleteRoot(root, notes);
        return;
      }
      case 'recreate':
        if (!this.#find(root)) this.createRoot(root);
        return;
      case 'changeData':
        this.data = `v${chance.between(2, 9)}`;
        this.#patch(kinds.dataObject, USER_DATA, { data: this.data });
        return;
      case 'meddle':
        this.#withSomethingBelow((object, kind) => this.#delete(kind, object.metadata.name));
        return;
      case 'interruptBelow':
        this.#withSomethingBelow((object, kind) => {
          if (kind.kind !== 'DeployItem') this.annotate(object.metadata.name, asked('interrupt'), kind);
        });
        return;
    }
  }

  #withSomethingBelow(act: (object: Stored, kind: Kind) => void): void {
    const server = this.#server;
    const children = server.list(kinds.installation).filter((i) => i.metadata.ownerReferences?.length);
    const below = [
      ...children.map((object) => ({ object, kind: kinds.installation })),
      ...server.list(kinds.execution).map((object) => ({ object, kind: kinds.execution })),
      ...server.list(kinds.item).map((object) => ({ object, kind: kinds.item })),
    ];
    if (below.length === 0) return;
    const { object, kind } = this.#chance.pick(below);
    act(object, kind);
  }

  // -------------------------------------------------------------- requests

  #find(root: NodeModel): Inst | undefined {
    return this.#server.find(kinds.installation, `${NAMESPACE}/${root.name}`) as Inst | undefined;
  }

  #apply(root: NodeModel, notes: Readonly<Record<string, string>>): void {
    const { metadata } = installationOf(root);
    const existing = this.#find(root);
    const spec = specOf(root) as Record<string, unknown>;
    // Like `kubectl apply`: deletes objects that are no longer wanted.
    const dropped = Object.fromEntries(
      Object.keys(existing?.spec ?? {})
        .filter((key) => !(key in spec) && key !== 'context')
        .map((key) => [key, null]),
    );
    this.#patch(kinds.installation, root.name, {
      metadata: { annotations: { ...metadata.annotations, ...notes } },
      spec: { ...dropped, ...spec, ...whole(spec, 'imports'), ...whole(spec, 'exports') },
    });
  }

  #create(kind: Kind, object: Obj): void {
    this.#note(() => `creates ${nameOf(object)}`);
    try {
      this.#server.write({ verb: 'create', kind, object }, 'user');
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  #patch(kind: Kind, name: string, body: object): void {
    const text = JSON.stringify(body);
    this.#note(() => `patches ${kind.kind} ${name} ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`);
    this.#tolerantly(() =>
      this.#server.write({ verb: 'merge', kind, key: `${NAMESPACE}/${name}`, body }, 'user'),
    );
  }

  #delete(kind: Kind, name: string): void {
    this.#note(() => `deletes ${kind.kind} ${name}`);
    this.#tolerantly(() => this.#server.write({ verb: 'delete', kind, key: `${NAMESPACE}/${name}` }, 'user'));
  }

  /** A user ignores that an object is already gone. */
  #tolerantly(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#note(() => `is told: ${error.message}`);
    }
  }

  #note(text: () => string): void {
    this.#scheduler.trace.note(() => `user ${text()}`);
  }
}

/** Imports or exports, always both lists: a merge patch keeps fields that it does not name. */
const whole = (spec: Readonly<Record<string, unknown>>, field: 'imports' | 'exports'): object => ({
  [field]: { data: null, targets: null, ...(spec[field] as object) },
});

const asked = (operation: keyof typeof operations): Record<string, string> => ({
  [annotations.operation]: operations[operation],
});
